import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../limits.ts';
import { defaultParameters, negotiate } from './parameters.ts';

function answer(key: string, value: string) {
  const parameters = defaultParameters();
  return { said: negotiate(key, value, parameters, DEFAULT_LIMITS), parameters };
}

test('digests are the first the initiator likes of those we know', () => {
  assert.equal(answer('HeaderDigest', 'X-fancy,CRC32C,None').said, 'CRC32C');
  assert.equal(answer('DataDigest', 'None,CRC32C').said, 'None');
  assert.equal(answer('DataDigest', 'X-fancy').said, 'Reject');
  assert.equal(answer('HeaderDigest', 'CRC32C').parameters.headerDigest, true);
});

test('of lengths and counts the smaller holds', () => {
  assert.equal(answer('MaxBurstLength', '16777215').said, String(DEFAULT_LIMITS.burstBytesMax));
  assert.equal(answer('MaxBurstLength', '65536').said, '65536');
  assert.equal(answer('FirstBurstLength', '512').parameters.firstBurstBytes, 512);
  assert.equal(answer('MaxConnections', '8').said, '1');
  assert.equal(answer('ErrorRecoveryLevel', '2').said, '0');
  assert.equal(answer('DefaultTime2Retain', '20').said, '0');
  assert.equal(answer('MaxOutstandingR2T', '65535').said, String(DEFAULT_LIMITS.outstandingR2tMax));
});

test('of the waiting time the larger holds, and we have no wish of our own', () => {
  assert.equal(answer('DefaultTime2Wait', '2').said, '2');
});

test('R2T and immediate data are as the initiator likes, order is kept always', () => {
  assert.equal(answer('InitialR2T', 'No').said, 'No');
  assert.equal(answer('InitialR2T', 'Yes').parameters.initialR2t, true);
  assert.equal(answer('ImmediateData', 'No').parameters.immediateData, false);
  assert.equal(answer('DataPDUInOrder', 'No').said, 'Yes');
  assert.equal(answer('DataSequenceInOrder', 'No').said, 'Yes');
});

test('what the initiator takes at once is noted and not answered', () => {
  const { said, parameters } = answer('MaxRecvDataSegmentLength', '0x40000');
  assert.equal(said, undefined);
  assert.equal(parameters.initiatorDataSegmentBytes, 0x40000);
});

test('nonsense is rejected and keys we do not know are said not to be understood', () => {
  for (const [key, value] of [
    ['MaxBurstLength', '-1'],
    ['MaxBurstLength', '1e9'],
    ['MaxBurstLength', '16777216'],
    ['MaxRecvDataSegmentLength', '100'],
    ['InitialR2T', 'maybe'],
    ['ErrorRecoveryLevel', '3'],
  ] as const) {
    assert.equal(answer(key, value).said, 'Reject', `${key}=${value}`);
  }
  assert.equal(answer('X-com.example.speed', '11').said, 'NotUnderstood');
  assert.equal(answer('toString', 'x').said, 'NotUnderstood');
});
