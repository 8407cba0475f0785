import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checker } from '../testing/checker.ts';
import { Initiator, type LoginOptions } from '../testing/initiator.ts';
import { startOurs, UNIT_BYTES } from './targets.ts';

const SECONDS = process.env['GRANARY_TORTURE'] === '1' ? 60 : 2;

const ways: Record<string, Partial<LoginOptions>> = {
  'as agreed on by default': {},
  'with header and data digests': { digests: { header: true, data: true } },
  'with all data asked for, in small bursts': {
    keys: { ImmediateData: 'No', InitialR2T: 'Yes', MaxRecvDataSegmentLength: '512', MaxBurstLength: '4096' },
  },
  'with unsolicited data and many R2Ts at once': {
    keys: { ImmediateData: 'No', FirstBurstLength: '65536', MaxBurstLength: '65536', MaxOutstandingR2T: '8' },
  },
};

for (const [name, way] of Object.entries(ways)) {
  test(`random I/O comes back as it was written, and every answer keeps to the protocol: ${name}`, async () => {
    const target = await startOurs();
    const { host, port, targetName, lun: number } = target;
    try {
      const session = await Initiator.login({ host, port, targetName, ...way });
      const lun = session.lun(number);
      await lun.clearUnitAttentions();
      const checker = new Checker(lun, { seed: 20_261, sectors: UNIT_BYTES / 4 / 512, unmap: true });
      const counts = await checker.run({ seconds: SECONDS, depth: 32 });
      assert.ok(counts.reads > 0 && counts.writes > 0 && counts.unmaps > 0);
      await checker.verifyAll();
      await session.close();
    } finally {
      await target.stop();
    }
  });
}
