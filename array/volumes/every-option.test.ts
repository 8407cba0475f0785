import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

/**
 * Goal: each option of a volume or a share is kept as it was sent, at its creation and at every change.
 * Method: a table of the options, with two values of each, and what the record shows then. Each is sent alone, and the
 * record shows that all others are as they were.
 */
const { volumes } = arrayApi.groups;
const array = await testArray({ after }, { drives: 2 });
const { client } = array;
const pool = await array.pool();

type Value = string | number | boolean | null;
type Shown = Readonly<Record<string, Value>>;
interface Option {
  /** Of the record. */
  readonly field: string;
  /** What is sent, and what the record shows then; the first is not the default. */
  readonly created: readonly [sent: Value, shown: Value];
  readonly changed: readonly [sent: Value, shown: Value];
}
type Options = Readonly<Record<string, Option>>;

const usuallyOff = (field: string): Option => ({ field, created: [true, 'YES'], changed: [false, 'NO'] });
const usuallyOn = (field: string): Option => ({ field, created: [false, 'NO'], changed: [true, 'YES'] });
const shownAsSent = (field: string, created: string, changed: string): Option => ({
  field,
  created: [created, created],
  changed: [changed, changed],
});
const numbered = (field: string, created: number, changed: number): Option => ({
  field,
  created: [created, String(created)],
  changed: [changed, String(changed)],
});

const ofShares: Options = {
  mountsync: usuallyOn('mount_sync'),
  atimeupdate: usuallyOff('atime_update'),
  readaheadkb: shownAsSent('read_ahead_kb', '128', '512'),
  nfsrootsquash: usuallyOff('nfs_root_squash'),
  nfsallsquash: usuallyOff('nfs_all_squash'),
  nfsanonuid: { field: 'nfs_anon_uid', created: [1234, 1234], changed: [0, 65_534] },
  nfsanongid: { field: 'nfs_anon_gid', created: [4321, 4321], changed: [0, 65_534] },
  smbonly: usuallyOff('smb_only'),
  smbguest: usuallyOff('smb_guest'),
  smbwindowsacl: usuallyOff('smb_windows_acl'),
  smbbrowseable: usuallyOn('smb_browseable'),
  smbhideunreadable: usuallyOff('smb_hide_unreadable'),
  smbhideunwriteable: usuallyOff('smb_hide_unwriteable'),
  smbhidedotfiles: usuallyOff('smb_hide_dot_files'),
  smbmaparchive: usuallyOff('smb_map_archive'),
  smbenableoplocks: usuallyOn('smb_enable_oplocks'),
  smbfilecreatemask: shownAsSent('smb_file_create_mask', '0640', '0600'),
  smbdircreatemask: shownAsSent('smb_dir_create_mask', '0750', '0700'),
  smbhiddenfiles: { field: 'smb_hidden_files', created: ['/*.tmp/', '/*.tmp/'], changed: ['', null] },
  smbencryptionmode: shownAsSent('smb_encryption_mode', 'required', 'desired'),
  smbmanglednames: shownAsSent('smb_mangled_names', 'ILLEGAL', 'NO'),
  smbcasesensitive: shownAsSent('smb_case_sensitive', 'YES', 'NO'),
  auditenable: usuallyOff('audit_enable'),
};

/** A change does not take it. */
const ofNewShares: Options = { smbstoredosattributes: usuallyOff('smb_store_dos_attributes') };

const ofBlockVolumes: Options = {
  read_iops_capping: numbered('read_iops_capping', 500, 0),
  read_mbps_capping: numbered('read_mbps_capping', 50, 60),
  write_iops_capping: numbered('write_iops_capping', 400, 300),
  write_mbps_capping: numbered('write_mbps_capping', 40, 0),
};

const create = (sent: object) => array.volume(pool, { capacity: '10M', ...sent });

/** The fields of all these options. */
async function shown(id: string, options: Options): Promise<Shown> {
  const { volume } = await client.call(volumes.get, { id });
  const record = volume as unknown as Shown;
  return Object.fromEntries(Object.values(options).map(({ field }) => [field, record[field]!]));
}

const shareOptions = { ...ofShares, ...ofNewShares };

for (const [kind, options, sent] of [
  ['share', shareOptions, { block: false }],
  ['block volume', ofBlockVolumes, { block: true }],
] as const) {
  const usual = await shown(await create(sent), options);
  const made = new Map<string, string>();

  test(`a new ${kind} has the option it was sent, and the usual value of every other`, async () => {
    for (const [option, { field, created }] of Object.entries(options)) {
      const id = await create({ ...sent, [option]: created[0] });
      assert.deepEqual(await shown(id, options), { ...usual, [field]: created[1] }, option);
      assert.notEqual(usual[field], created[1], `${option}: the usual value shows nothing`);
      made.set(option, id);
    }
  });

  test(`a change of a ${kind} sets the option it was sent, and leaves every other`, async () => {
    for (const [option, { field, created, changed }] of Object.entries(options)) {
      if (option in ofNewShares) continue;
      const id = made.get(option) ?? (await create({ ...sent, [option]: created[0] }));
      await client.call(volumes.update, { id, [option]: changed[0] });
      assert.deepEqual(await shown(id, options), { ...usual, [field]: changed[1] }, option);
      await client.call(volumes.update, { id, [option]: created[0] });
      assert.deepEqual(await shown(id, options), { ...usual, [field]: created[1] }, `${option} again`);
    }
  });
}

test('no option of SMB or NFS is without an entry in the table', () => {
  for (const { params } of [volumes.create, volumes.update]) {
    const options = Object.keys(params).filter((name) => /^(smb|nfs)|_capping$/.test(name));
    const all = new Set(Object.keys({ ...shareOptions, ...ofBlockVolumes }));
    assert.deepEqual(
      options.filter((name) => !all.has(name)),
      [],
    );
  }
});

test('how a volume expands itself is set at its creation and by each parameter of its protection', async () => {
  const expansion = async (of: string) => {
    const { volume } = await client.call(volumes.get, { id: of });
    return [volume.auto_expand_on_emergency, volume.auto_expand_by, volume.max_capacity];
  };
  const id = await create({ autoexpand: true, autoexpandby: '1G', maxcapacity: '4G' });
  assert.deepEqual(await expansion(id), ['YES', 1, 4]);
  await client.call(volumes.updateProtection, { id, autoexpandby: '2G' } as never);
  assert.deepEqual(await expansion(id), ['YES', 2, 4]);
  await client.call(volumes.updateProtection, { id, maxcapacity: '8G' } as never);
  assert.deepEqual(await expansion(id), ['YES', 2, 8]);
  await client.call(volumes.updateProtection, { id, autoexpand: false });
  assert.deepEqual(await expansion(id), ['NO', 2, 8]);
  const other = await create({});
  assert.deepEqual(await expansion(other), ['NO', null, null]);
  const { message } = await client.refused(volumes.updateProtection, { id: other, autoexpand: true });
  assert.match(message, /^autoexpandby must be sent with autoexpand=YES/);
  await client.call(volumes.updateProtection, { id: other, autoexpand: true, autoexpandby: '1G' } as never);
  assert.deepEqual(await expansion(other), ['YES', 1, null]);
});

test('when an alert is raised is set by each parameter of the protection of a volume', async () => {
  const id = await create({});
  const protection = async () => {
    const { volume } = await client.call(volumes.get, { id });
    return [volume.capacity_history, volume.alert_mode, volume.emergency_mode_mb];
  };
  const [history, alert] = await protection();
  await client.call(volumes.updateProtection, { id, emergencymode: 3 });
  assert.deepEqual(await protection(), [history, alert, 3072]);
  await client.call(volumes.updateProtection, { id, alertmode: 77 });
  assert.deepEqual(await protection(), [history, 77, 3072]);
  await client.call(volumes.updateProtection, { id, capacityhistory: 33 });
  assert.deepEqual(await protection(), [33, 77, 3072]);
});

test('each threshold of the load of a volume is on record, and leaves every other', async () => {
  const id = await create({});
  const thresholds = async () => {
    const { volume } = await client.call(volumes.get, { id });
    const { read_iops_limit, read_mbps_limit, write_iops_limit, write_mbps_limit } = volume;
    const { read_latency_limit = 0, write_latency_limit = 0 } = JSON.parse(volume.thresholds ?? '{}') as Shown;
    return {
      read_iops_limit,
      read_mbps_limit,
      read_latency_limit,
      write_iops_limit,
      write_mbps_limit,
      write_latency_limit,
    };
  };
  const wanted = {
    read_iops_limit: 11,
    read_mbps_limit: 12,
    write_iops_limit: 13,
    write_mbps_limit: 14,
    read_latency_limit: 15,
    write_latency_limit: 16,
  };
  let before: Shown = await thresholds();
  for (const [parameter, limit] of Object.entries(wanted)) {
    await client.call(volumes.updatePerformanceThresholds, { id, [parameter]: limit });
    // Those of latency have no field of their own, and are numbers in the text that has them.
    before = { ...before, [parameter]: parameter.includes('latency') ? limit : String(limit) };
    assert.deepEqual(await thresholds(), before, parameter);
  }
});
