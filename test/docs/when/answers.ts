import { type WrongSection } from './row.ts';

export const ANSWERS: WrongSection = {
  title: 'Its answers to single records',
  rows: [
    {
      happens: 'One payment is refused with 400, 413 or 422.',
      letters: ['status_<code>'],
      see: 'a score with `decision` unknown and its `failure` (unless `SCORE_ON_REFUSAL=false`)',
      does: 'The record is a letter with the status and the words of the service; its key goes on.',
      mend: 'Read `dlq.service_error`; mend the data and send the payment again.',
      answers: ['all_letters'],
      shown: [
        ['integration/broken-scores', '%i is a letter with the words of the service, and a score that says it failed'],
        [
          'integration/scores',
          'a refused payment has a score without a decision that says why, and a letter; both are of the same place',
        ],
      ],
    },
    {
      happens:
        'One payment always gets an answer that others do not get: any status, an `error_msg`, no JSON, no answer at all.',
      holds: ['record_failing'],
      letters: ['status_<code>', 'error_msg', 'unusable_answer', 'timed_out', 'connection_failed'],
      see: '`position` of the hold: which record',
      does: 'Only its key waits. It is a letter after 8 failures over 5 minutes (30 s while failing records fill half of the memory) in which at least 20 other payments were tried and at most 5 % of those failed (`SCORING_MAX_ATTEMPTS`, `SCORING_REFUSE_AFTER_MS`). Further payments of its key that fail are letters at once, until one succeeds. A payment that always gets 429 waits.',
      mend: 'Show the service the transaction; send it again when that is fixed. To end it sooner: `DEAD_LETTER_OFFSETS`.',
      answers: ['all_letters', 'lag_grows'],
      shown: [
        ['property/attribution', 'one in 25 that always gets %s: all others keep their rate, and each odd one ends'],
        [
          'property/attribution',
          'two in a thousand that always time out: the others keep their rate, although each holds a slot for 5 s',
        ],
        [
          'property/attribution',
          'any answer, share, number of keys and seed: no good record becomes a dead letter, and the order is kept',
        ],
        [
          'unit/resilience/attribution',
          'becomes a dead letter with its eighth failure after 300 s, while 20 others were tried and succeeded',
        ],
      ],
    },
    {
      happens: 'One payment fails, and too few others come to tell whose fault it is.',
      holds: ['record_failing'],
      see: '`position` of the hold: which record',
      does: 'It is tried again, at most once a minute, until 20 other payments have been tried. Only its key waits.',
      mend: 'Name its position in `DEAD_LETTER_OFFSETS` and start again, if it must end now.',
      answers: ['lag_grows'],
      shown: [
        ['property/attribution', 'an odd record that nothing follows waits, for nobody can tell'],
        ['property/attribution', 'with one request a minute an odd record ends once 20 others were tried'],
      ],
    },
    {
      happens: 'So many payments fail that what is held in memory is full of them, while others are accepted.',
      holds: ['too_many_failing'],
      see: '`/status`: how many; `record_failing` with a position',
      does: 'Nothing more is read until some have ended. What can be proven to be at fault ends sooner: after 30 s in place of 5 minutes.',
      mend: 'Look at what the failing payments have in common. A higher DEAD_LETTER_MAX_SHARE, or DEAD_LETTER_OFFSETS, lets more of them go.',
      answers: ['nothing_moves', 'lag_grows'],
      shown: [
        [
          'unit/resilience/attribution',
          'while failing records fill at least half of the memory a tenth of the time is enough',
        ],
      ],
    },
    {
      happens: 'A payment is answered with 409: the service knows it already.',
      skips: ['already_scored'],
      see: 'a score with `decision` unknown and `failure` `already_scored`',
      does: 'It ends without a decision, and its status updates may go out. Free where a repeat is to be expected: after an attempt of this process that may have been carried out, and among the first 1,000 records after an assignment. Any other 409 counts for the dead-letter guard.',
      mend: 'Nothing after a kill -9: readers keep the decision that they have. To score a whole log again: DEAD_LETTER_MAX_SHARE=1.',
      answers: ['twice'],
      shown: [
        ['property/attribution', '409 to what a killed process had scored: each ends at once, and nothing waits'],
        [
          'unit/resilience/caller',
          'a 409 says that the payment is scored where that is to be expected, and else refuses the record',
        ],
      ],
    },
    {
      happens: 'An attempt ends without an answer that can be used: a reset, a time-out, half an answer, no JSON, 502.',
      see: 'a score with `attempts` above 1 and `possibly_scored_before`',
      does: 'It is asked for again; the service may have scored the payment twice, under one trans_id.',
      mend: 'Nothing. Readers take the newest score of a payment that has no `failure`.',
      answers: ['twice'],
      shown: [
        [
          'integration/broken-scores',
          'that nobody can use is asked for again, and the score says that there may be two: %s',
        ],
        ['integration/broken-scores', 'that takes longer than the whole attempt may is given up: %s'],
        ['integration/broken-scores', 'that is reset %s is a score that may be the second'],
        ['integration/broken-scores', 'that %s costs no payment'],
        [
          'integration/service-ill',
          'when it resets connections after it has done its work: scores say that it may have scored before',
        ],
      ],
    },
    {
      happens: 'The repeat of such an attempt is refused with 400 or 422.',
      letters: ['ambiguous_then_refused'],
      does: 'The payment may be scored, so its status updates go out all the same. Such letters spend no budget of the dead-letter guard.',
      mend: 'Look the transaction up at the service before you send it again.',
      answers: ['all_letters', 'twice'],
      shown: [
        ['integration/broken-scores', '%i after an attempt without an answer says that the payment may be scored'],
      ],
    },
    {
      happens: 'An answer has an impossible decision or score, no id, or fields that nobody knows.',
      events: ['answer_unrecognised'],
      see: 'a score with `decision` unknown or without the value; what came is in `extra`',
      does: 'It is published without the impossible value, never as an approval.',
      mend: 'If the interface has changed: update the connector. Else show the service the transaction.',
      answers: [],
      shown: [
        ['integration/broken-scores', 'with an impossible value is published without it, never as an approval: %s'],
        [
          'integration/broken-scores',
          'with another frg_trans_id than the service keeps, and with fields nobody knows, is published as it came',
        ],
        ['integration/broken-scores', 'is taken by what its body is: %s'],
      ],
    },
    {
      happens: 'The service finds fault with datapoints of a payment.',
      see: 'a score with `validation_ok` false and `validation_errors`',
      does: 'The payment is scored; nothing waits.',
      mend: 'Mend the datapoints at the producer, or in the mapping.',
      answers: [],
      shown: [['integration/broken-scores', 'that finds fault with datapoints is a score with its remarks']],
    },
    {
      happens: 'One status update makes its batch be refused with a 3xx or 4xx.',
      letters: ['status_<code>'],
      events: ['batch_split'],
      does: 'The batch is halved until the culprit stands alone; its mates are sent. It goes alone, and is a letter when it is refused again after another update was accepted.',
      mend: 'Read `dlq.service_error`; mend the update and send it again.',
      answers: ['all_letters'],
      shown: [
        [
          'integration/bad-input',
          'an update the service refuses is a letter alone, and its neighbours in the batch are sent',
        ],
        ['integration/broken-updates', '%i of a batch is searched for its culprit, and its mates are sent'],
        ['integration/broken-updates', 'ends with the name of that answer, and all others are delivered'],
        [
          'property/sync-attribution',
          '%s: all others are delivered, at the rate at which they come, and each odd one ends',
        ],
      ],
    },
    {
      happens: 'The answer to a batch refuses an update under its trans_id.',
      letters: ['rejected_by_service'],
      does: 'That update is a letter, all others of the batch are done.',
      mend: 'Read `dlq.service_error`; mend the update and send it again.',
      answers: ['all_letters'],
      shown: [
        ['integration/broken-updates', 'under the id of an update is its letter alone: %s'],
        [
          'integration/odd-ids',
          'are refused one by one where the answer refuses them so, and their neighbours are not',
        ],
      ],
    },
    {
      happens: 'A batch is too large for the service (413).',
      events: ['batch_split'],
      does: 'It is halved, the next ones are smaller, and grow again with success. No letter, unless one update alone is too large.',
      mend: 'If it happens often: a smaller `SYNC_BATCH_MAX_BYTES`.',
      answers: [],
      shown: [['integration/broken-updates', 'of a body as too large makes smaller ones, and no letter']],
    },
    {
      happens: 'A batch gets no answer, or 408, 425, 429, 5xx, or 2xx with an `error_msg`.',
      holds: ['service_down', 'record_failing'],
      does: 'It is sent again; the service may see an update twice, with the same status and `ts`. After a second try (429 without `Retry-After` and 502 to 504: after a fourth, or after an eighth while no other update is accepted) it is searched for the update that does it, which then goes on alone, as a payment would. One that always gets 429 waits under its name.',
      mend: 'Nothing.',
      answers: ['twice', 'lag_grows'],
      shown: [
        ['integration/broken-updates', 'that is none is asked for again: %s'],
        ['integration/broken-updates', 'that takes too long is given up, and the batch sent again: %s'],
        ['integration/broken-updates', 'that is a reset connection is sent again: %s'],
        ['integration/broken-updates', '%i is tried again'],
        ['integration/broken-updates', 'with an error_msg and 200 is no acceptance: it is sent again'],
      ],
    },
    {
      happens: 'A batch is answered with 2xx and a body that nobody has described.',
      events: ['answer_unrecognised'],
      does: 'It counts as accepted; nothing is sent twice.',
      mend: 'If it stays: ask the service what its answer means.',
      answers: [],
      shown: [
        ['integration/broken-updates', 'of success is one, whatever its body is: nothing is sent twice: %s'],
        ['unit/flows/sync/delivery', 'is counted where its answer has a shape that nobody described'],
      ],
    },
  ],
};
