import { objectsClient, type ArrayClient, type ObjectsClient, type PortalClient } from '@granary/client';
import { orderArray } from '../block-array.ts';
import { openAccount, orderObjects } from '../object-account.ts';
import { startGranary, type Granary } from '../granary.ts';
import type { SignIn } from './browser.ts';
import { S3Client } from '../../protocols/s3/testing/client.ts';

/**
 * Runs, if anything takes it for markup or for a script. Each place has a number, so that one who finds it executed knows
 * which name it was.
 */
export function markup(place: string): string {
  return `"'></script><img src=x onerror="window.executed='${place}'"><marked-name>${place}</marked-name>`;
}

/** Where a name has at most 32 characters, or no slash. */
export const shortMarkup = '<img src=x onerror=executed=1>';

/** A person below an administrator, at the portal and in the block array. */
export const ANN = { username: 'ann', password: 'correct horse battery' } as const;

/** What stands in the text of a page where a name is shown as text. */
export const MARK = '<img src=x onerror=';

/** An installation with something behind every page, every name of it markup. */
export interface MarkedCloud {
  readonly granary: Granary;
  readonly admin: PortalClient;
  readonly block: { readonly id: number; readonly url: string; readonly client: ArrayClient; readonly passcode: string };
  readonly objects: { readonly id: number; readonly url: string; readonly client: ObjectsClient; readonly passcode: string };
  /** Of object storage, below its administrator. */
  readonly people: Readonly<Record<'account_admin' | 'member', SignIn>>;
}

export async function startMarkedCloud(dataDir: string): Promise<MarkedCloud> {
  const granary = await startGranary(dataDir);
  const admin = await granary.admin();
  const block = await orderArray(admin, markup('array'), { SSD_10GB: 6 });
  await fillPortal(admin);
  await fillBlock(admin, block.id, block.client);
  return { granary, admin, block, ...(await fillObjects(admin)) };
}

async function fillPortal(admin: PortalClient): Promise<void> {
  await admin.users.create({ ...ANN, email: 'ann@example.org' });
  await admin.providerGroups.create({ name: markup('provider-group') });
  const { data } = await admin.providers.list();
  const provider_id = data[0]?.provider_id ?? 1;
  const vlans = await admin.vlans.listAvailable({ provider_id });
  await admin.vlans.allocate({ provider_id, vlan: vlans.data[0] as number });
  const tenants = await admin.tenants.list();
  const network = { name: markup('network'), provider_id, tenant_id: String(tenants.data[0]?.id ?? '') };
  await admin.virtualNetworks.create(network);
  await admin.computes.create({ provider_id, display_name: markup('compute'), display_description: markup('compute-d'), ram: 1024, vcpus: 64 } as never);
  await admin.webhooks.create({ name: markup('hook'), target_url: 'http://127.0.0.1:9/hooks', severity: 0 } as never);
  // Waits for approval: a request with a name, too.
  await admin.arrays.create({
    name: markup('requested'),
    description: markup('request-description'),
    moderate: true,
    provider: 'local',
    engine: 'engine_small',
    drives: { SSD_10GB: 2 },
  });
}

async function fillBlock(admin: PortalClient, id: number, array: ArrayClient): Promise<void> {
  const { disks } = await array.drives.listFree();
  const names = disks.map(({ name }) => name);
  await array.drives.rename({ id: names[0] as string, newname: markup('drive') });
  const made = await array.raidGroups.create({
    display_name: markup('raid-group'),
    protection: 'RAID1',
    disk: names.slice(0, 2),
  });
  const other = await array.raidGroups.create({ display_name: markup('rg2'), protection: 'RAID1', disk: names.slice(2, 4) });
  await array.raidGroups.addHotSpare({ id: other.raidgroup_name, disk: names[4] as string });
  const { pool_name: pool } = await array.pools.create({
    display_name: markup('pool'),
    raid_groups: [made.raidgroup_name],
  });
  await array.poolTags.create({ id: pool, key: markup('tag-key'), value: markup('tag-value') });
  const { vol_name: volume } = await array.volumes.create({ name: markup('volume'), pool, capacity: '1G' });
  await array.volumes.updateComment({ id: volume, new_comment: markup('comment') });
  await array.volumeTags.create({ id: volume, key: markup('vtag-key'), value: markup('vtag-value') });
  const share = await array.volumes.create({ name: markup('share'), pool, capacity: '1G', block: false, export_name: 'marked' } as never);
  const iqn = 'iqn.2026-11.org.example:marked';
  const { server_name: server } = await array.servers.create({ display_name: markup('server'), iqn, os: 'Linux' });
  await array.serverTags.create({ id: server, key: markup('stag-key'), value: markup('stag-value') });
  await array.servers.attachVolumes({ id: [server], volume_name: [volume] });
  const { volume: record } = await array.volumes.get({ id: volume });
  const volume_cg_id = record.cg_name as string;
  await array.snapshots.create({ volume_cg_id, display_name: markup('snapshot') });
  const policy = await array.snapshotPolicies.create({
    display_name: markup('policy'),
    create_policy: '0 0 * * *',
    delete_policy: 'N24',
  });
  const rule = (policy as { snappolicy_name?: string; policy_name?: string });
  await array.snapshotPolicies.attach({ id: volume, policy: rule.snappolicy_name ?? rule.policy_name ?? 'policy-00000001', application: 'user' } as never);
  await array.users.create({ username: markup('user'), password: 'correct horse', email: 'x@example.org' });
  await array.users.create({ ...ANN, email: 'ann@example.org' });
  const tries: [string, () => Promise<unknown>][] = [
    ['flc', () => admin.arrays.enableFileLifecycle({ array_id: id } as never)],
    ['nasGroup', () => array.nasGroups.create({ group_name: 'staff', nfs_gid: 1000 } as never)],
    ['nasUser', () => array.nasUsers.create({ username: 'jo', nfs_uid: 1000, groups: ['staff'], password: 'correct horse' } as never)],
    ['category', () => array.fileCategories.create({ displayname: markup('category'), file_extensions: ['marked'] } as never)],
    ['project', () => array.quotaProjects.create({ id: share.vol_name, display_name: markup('project'), directories: ['/'], timeout: 60 })],
    ['hook', () => array.webhooks.create({ name: markup('hook'), target_url: 'http://127.0.0.1:9/hooks', severity: 0 } as never)],
    ['second volume', async () => { const v = await array.volumes.create({ name: markup('binned'), pool, capacity: '1G' }); await array.volumes.delete({ id: v.vol_name }); }],
    ['snapset', () => array.snapshotSets.suspend({ snapsetid: 'x', cg: [volume_cg_id] } as never)],
    ['lifecycle', () => array.lifecyclePolicies.create({ display_name: markup('lifecycle'), file_selection_criteria: { extension: { $in: ['log'] } }, lc_action: 'expire', dry_run: true } as never)],
  ];
  for (const [, f] of tries) await f();
}

async function fillObjects(admin: PortalClient): Promise<Pick<MarkedCloud, 'objects' | 'people'>> {
  const { url, client } = await orderObjects(admin, markup('objects'), 2);
  const found = (await admin.arrays.list({ name: markup('objects') })).data[0];
  const { id, initial_passcode: passcode } = (await admin.arrays.get({ array_id: found?.id as number })).data;
  // Buckets of the person who looks: the console shows those of the user's own account.
  await fillBuckets(url, client, passcode);
  const opened = await openAccount({ url, client }, shortMarkup, shortMarkup, 'dana@example.org');
  const { account, password } = opened;
  const member = { username: 'mel', email: 'mel@example.org', account_id: opened.accountId };
  const { code } = await client.users.create({ ...member, role: 'member' });
  const guest = objectsClient({ url });
  await guest.users.usePasswordCode({ username: member.username, account, code, new_password: password });
  return {
    objects: { id, url, client, passcode },
    people: {
      account_admin: { username: opened.user, account, password },
      member: { username: member.username, account, password },
    },
  };
}

async function fillBuckets(url: string, client: ObjectsClient, password: string): Promise<void> {
  const { user } = await client.users.authenticate({ account: 'objs_admin', user: 'admin', password });
  const { s3_access_key: access, s3_secret_key: secret, public_url: address } = user.objs_data.objs_user;
  const s3 = new S3Client(new URL(address).origin, { access: access ?? '', secret: secret ?? '' });
  const put = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const { status, text } = await s3.call('PUT', path, { body, headers });
    if (status !== 200) throw new Error(`PUT ${path} at ${url} was answered with ${status}: ${text}`);
  };
  await put('/marked', '');
  await put(`/marked/${markup('key')}`, 'text', { 'x-amz-meta-note': shortMarkup });
  await put('/marked/page.html', '<script>window.executed="html"</script>', { 'content-type': 'text/html' });
  await put(`/marked/${markup('folder')}/inside`, 'text');
  s3.close();
}
