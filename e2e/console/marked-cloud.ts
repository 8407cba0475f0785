import { objectsClient, type ArrayClient, type ObjectsClient, type PortalClient } from '@granary/client';
import { orderArray } from '../block-array.ts';
import { openAccount, orderObjects } from '../object-account.ts';
import { startGranary, type Granary } from '../granary.ts';
import type { SignIn } from './browser.ts';
import { S3Client } from '../../protocols/s3/testing/client.ts';

/**
 * Runs, if anything takes it for markup or for a script, and then says
 * which name it was.
 */
export function markup(place: string): string {
  return `"'></script><img src=x onerror="window.executed='${place}'"><marked-name>${place}</marked-name>`;
}

/** Where a name has at most 32 characters, or no slash. */
const shortMarkup = '<img src=x onerror=executed=1>';

/** A person below an administrator, at the portal and in the block array. */
export const ANN = { username: 'ann', password: 'correct horse battery' } as const;

/** Where nothing listens. */
const HOOK = 'http://127.0.0.1:9/hooks';

/** What stands in the text of a page where a name is shown as text. */
export const MARK = '<img src=x onerror=';

/** An installation with something behind every page, every name of it markup. */
export interface MarkedCloud {
  readonly granary: Granary;
  readonly admin: PortalClient;
  readonly block: {
    readonly id: number;
    readonly url: string;
    readonly client: ArrayClient;
    readonly passcode: string;
  };
  readonly objects: {
    readonly id: number;
    readonly url: string;
    readonly client: ObjectsClient;
    readonly passcode: string;
  };
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
  const provider_id = 1;
  const vlans = await admin.vlans.listAvailable({ provider_id });
  await admin.vlans.allocate({ provider_id, vlan: vlans.data[0] as number });
  const tenants = await admin.tenants.list();
  const tenant_id = tenants.data[0]?.id ?? 0;
  await admin.virtualNetworks.create({ name: markup('network'), provider_id, tenant_id });
  const room = { ram: 1024, vcpus: 64 };
  await admin.computes.create({ provider_id, display_name: markup('compute'), ...room });
  await admin.webhooks.create({ name: markup('hook'), target_url: HOOK, severity: 0 });
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

async function fillBlock(admin: PortalClient, array_id: number, array: ArrayClient): Promise<void> {
  const pool = await fillStorage(array);
  const { vol_name: volume } = await array.volumes.create({ name: markup('volume'), pool, capacity: 1024 });
  await array.volumes.updateComment({ id: volume, new_comment: markup('comment') });
  await array.volumeTags.create({ id: volume, key: markup('volume-tag'), value: markup('volume-value') });
  const binned = await array.volumes.create({ name: markup('binned'), pool, capacity: 1024 });
  await array.volumes.delete({ id: binned.vol_name });
  const iqn = 'iqn.2026-11.org.example:marked';
  const { server_name: server } = await array.servers.create({ display_name: markup('server'), iqn, os: 'Linux' });
  await array.serverTags.create({ id: server, key: markup('server-tag'), value: markup('server-value') });
  await array.servers.attachVolumes({ id: [server], volume_name: [volume] });
  await fillProtection(array, volume);
  await array.users.create({ username: markup('user'), password: ANN.password, email: 'markup@example.org' });
  await array.users.create({ ...ANN, email: 'ann@example.org' });
  await array.webhooks.create({ name: markup('hook'), target_url: HOOK, severity: 0 });
  await admin.arrays.enableFileLifecycle({ array_id });
  await fillFiles(array, pool);
}

/** The name of the pool. */
async function fillStorage(array: ArrayClient): Promise<string> {
  const { disks } = await array.drives.listFree();
  const [first = '', second = '', third = '', fourth = '', spare = ''] = disks.map(({ name }) => name);
  await array.drives.rename({ id: first, newname: markup('drive') });
  const mirrors = { protection: 'RAID1' } as const;
  const group = { display_name: markup('raid-group'), ...mirrors, disk: [first, second] };
  const { raidgroup_name: used } = await array.raidGroups.create(group);
  const second_group = { display_name: markup('free-group'), ...mirrors, disk: [third, fourth] };
  const { raidgroup_name: free } = await array.raidGroups.create(second_group);
  await array.raidGroups.addHotSpare({ id: free, disk: spare });
  const { pool_name: pool } = await array.pools.create({ display_name: markup('pool'), raid_groups: [used] });
  await array.poolTags.create({ id: pool, key: markup('tag'), value: markup('value') });
  return pool;
}

async function fillProtection(array: ArrayClient, volume: string): Promise<void> {
  const volume_cg_id = (await array.volumes.get({ id: volume })).volume.cg_name;
  await array.snapshots.create({ volume_cg_id, display_name: markup('snapshot') });
  const times = { create_policy: '0 0 * * *', delete_policy: 'N24' };
  await array.snapshotPolicies.create({ display_name: markup('policy'), ...times });
  const { snapshot_policies: policies } = await array.snapshotPolicies.list();
  const policy = policies.find(({ display_name: name }) => name === markup('policy'))?.name ?? '';
  await array.snapshotPolicies.attach({ id: volume, policy, application: 'user' });
}

/** Names of exports and of NAS users may have no markup in them: NFS and SMB have forms of their own. */
async function fillFiles(array: ArrayClient, pool: string): Promise<void> {
  const kind = { block: false, export_name: 'marked' };
  const { vol_name: id } = await array.volumes.create({ name: markup('share'), pool, capacity: 1024, ...kind });
  await array.nasGroups.create({ group_name: 'staff', nfs_gid: 1000 });
  await array.nasUsers.create({ username: 'jo', nfs_uid: 1000, groups: ['staff'] });
  await array.fileCategories.create({ displayname: markup('category'), file_extensions: ['marked'] });
  await array.quotaProjects.create({ id, display_name: markup('project'), directories: ['/'], timeout: 60 });
  await array.lifecyclePolicies.create({
    display_name: markup('lifecycle'),
    file_selection_criteria: { extension: { $in: ['log'] } },
    lc_action: 'expire',
    dry_run: true,
  });
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
  await client.destinations.create({
    name: shortMarkup,
    type: 'OBJS_S3',
    endpoint_url: new URL(address).origin,
    region: 'us-east-1',
    username: access ?? '',
    password: secret ?? '',
    connectVia: 'fe',
  });
}
