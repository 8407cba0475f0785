import { objectsApi } from '@granary/contract/objects';
import type { S3Client } from '../../protocols/s3/testing/client.ts';
import { expect } from '../../protocols/s3/testing/client.ts';
import type { TestObjects } from './test-objects.ts';

const { destinations } = objectsApi.groups;

/** Makes one array known to another, for the owner's account, whose objects keep their names; returns its name there. */
export async function makeKnown(from: TestObjects, to: TestObjects, name = 'offsite'): Promise<string> {
  await from.client.call(destinations.create, {
    name,
    type: 'OBJS_S3',
    endpoint_url: to.dataUrl,
    region: 'us-east-1',
    username: to.owner.s3.access,
    password: to.owner.s3.secret,
    connectVia: 'fe',
  });
  const { container_replication_targets: known } = await from.client.call(destinations.list, {});
  const extName = known.find(({ display_name }) => display_name === name)!.ext_name;
  const grant = { 'ext-name': extName, account_id: from.owner.accountId, own_prefix: false };
  await from.client.call(destinations.grant, grant);
  return extName;
}

interface Rule {
  readonly prefix?: string;
  readonly deletes?: boolean;
  readonly target?: string;
}

export async function replicate(client: S3Client, bucket: string, destination: string, rule: Rule = {}) {
  const { prefix = '', deletes = false, target = bucket } = rule;
  const body = `<ReplicationConfiguration><Role/><Rule><Status>Enabled</Status><Filter><Prefix>${prefix}</Prefix></Filter>
    <DeleteMarkerReplication><Status>${deletes ? 'Enabled' : 'Disabled'}</Status></DeleteMarkerReplication>
    <Destination><Bucket>arn:aws:s3:${destination}::${target}</Bucket></Destination></Rule></ReplicationConfiguration>`;
  return client.call('PUT', `/${bucket}`, { query: { replication: '' }, body });
}

export async function put(client: S3Client, path: string, body: string | Uint8Array, headers = {}) {
  return expect(await client.call('PUT', path, { body, headers }), 200);
}

export async function statusOf(client: S3Client, path: string): Promise<string | undefined> {
  const status = (await client.call('HEAD', path)).headers['x-amz-replication-status'];
  return status as string | undefined;
}
