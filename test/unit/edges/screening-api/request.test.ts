import { expect, test } from 'vitest';
import { callHeaders, userAgentOf } from '../../../../src/edges/screening-api/request.ts';

test('a call carries its token, its kind of body and the name of this client', () => {
  expect(callHeaders('tok', userAgentOf('1.2.3'))).toEqual(
    'authorization|SessionToken tok|content-type|application/json|accept|application/json|user-agent|fraud-screening-connector/1.2.3'.split(
      '|',
    ),
  );
});
