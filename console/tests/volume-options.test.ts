import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Volume as VolumeRecord } from '@granary/contract/array';
import { optionsSet, protectionSet, shareFields, thresholdsSet } from '../src/array/volumes/options.ts';
import type { Volume } from '../src/array/records.ts';

/** Goal: a form that changes options starts with what is set, in the form that the call takes. */
const of = (fields: Partial<Volume>) => fields as Volume;

test('options start with what is set: flags, numbers, choices; what a record has not is left out', () => {
  const share = of({
    mount_sync: 'NO',
    read_ahead_kb: '64',
    nfs_anon_uid: 0,
    smb_case_sensitive: 'AUTO',
    dedupe: 'YES',
  });
  const names = ['mountsync', 'readaheadkb', 'nfsanonuid', 'smbcasesensitive', 'dedupe', 'smbhiddenfiles'];
  const expected = { mountsync: false, readaheadkb: '64', nfsanonuid: 0, smbcasesensitive: 'AUTO', dedupe: true };
  assert.deepEqual(optionsSet(share, names), expected);
  const disk = of({ read_iops_capping: '500', compress: 'NO' });
  assert.deepEqual(optionsSet(disk, ['read_iops_capping', 'compress']), { read_iops_capping: 500, compress: false });
});

test('every option of a share is found in its record', () => {
  const record = of(Object.fromEntries(Object.keys(VolumeRecord.properties).map((field) => [field, 'YES'])));
  assert.deepEqual(Object.keys(optionsSet(record, shareFields)), shareFields);
});

test('latencies are among the thresholds, although they have no field of their own', () => {
  const limits = { read_iops_limit: '7', read_mbps_limit: '0', write_iops_limit: '0', write_mbps_limit: '0' };
  const thresholds = JSON.stringify({ read_latency_limit: 20, write_latency_limit: 0 });
  const { read_iops_limit: reads, read_latency_limit: latency } = thresholdsSet(of({ ...limits, thresholds }));
  assert.deepEqual([reads, latency], [7, 20]);
  assert.equal(thresholdsSet(of({ ...limits, thresholds: null }))['write_latency_limit'], 0);
});

test('capacities keep their size in the form that calls take', () => {
  const set = protectionSet(
    of({
      capacity_history: 60,
      alert_mode: 0,
      emergency_mode_mb: 2048,
      auto_expand_on_emergency: 'YES',
      auto_expand_by: 0.5,
    }),
  );
  assert.deepEqual([set['emergencymode'], set['autoexpand'], set['autoexpandby']], [2, true, '512M']);
});
