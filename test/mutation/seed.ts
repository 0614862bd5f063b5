import fc from 'fast-check';

// One seed, so that a mutant which was noticed today is noticed tomorrow; no shrinking, nobody reads the example.
fc.configureGlobal({ seed: 20_260_301, endOnFailure: true });
