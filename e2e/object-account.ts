import { objectsClient, type ObjectsClient, type PortalClient } from '@granary/client';
import { until } from '../testing/waiting.ts';

const PASSWORD = 'Orange-kettle-41';
const CREATED_MS_MAX = 120_000;

/** An account of an object storage array, as an application knows it. */
export interface ObjectAccount {
  /** Where S3 and Swift clients go. */
  readonly endpoint: string;
  readonly accountId: string;
  readonly account: string;
  readonly user: string;
  readonly password: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface OrderedObjects {
  readonly url: string;
  readonly client: ObjectsClient;
}

/** Orders object storage that keeps two copies, and waits until it answers its owner. */
export async function orderObjects(admin: PortalClient, name: string, drives: number): Promise<OrderedObjects> {
  await admin.arrays.create({
    name,
    moderate: false,
    provider: 'local',
    kind: 'object_storage',
    drives: { SSD_10GB: drives },
    array_zone_group_storage_policy_type_id: 1,
    storage_profile: 'two-copies',
  });
  const created = async () => {
    const found = (await admin.arrays.list({ name })).data[0];
    return found?.status === 'created' && (await admin.arrays.get({ array_id: found.id })).data;
  };
  const record = await until(created, `object storage ${name} is created`, CREATED_MS_MAX);
  const { management_url: url, initial_passcode: password } = record;
  if (url === null) throw new Error(`Object storage ${name} has no address`);
  const { user } = await objectsClient({ url }).users.authenticate({ account: 'objs_admin', user: 'admin', password });
  return { url, client: objectsClient({ url, accessKey: user.access_key ?? '' }) };
}

/** Opens an account with one administrator, who chose a password with the code that was handed over. */
export async function openAccount(
  objects: OrderedObjects,
  account: string,
  user: string,
  email = `${user}@example.org`,
): Promise<ObjectAccount> {
  const { count: accountId } = await objects.client.accounts.create({ name: account });
  const { code } = await objects.client.users.create({
    username: user,
    email,
    account_id: accountId,
    role: 'account_admin',
  });
  const guest = objectsClient({ url: objects.url });
  await guest.users.usePasswordCode({ username: user, account, code, new_password: PASSWORD });
  const signedIn = await guest.users.authenticate({ account, user, password: PASSWORD });
  const { s3_access_key: accessKey, s3_secret_key: secretKey, public_url: address } = signedIn.user.objs_data.objs_user;
  if (accessKey === null || secretKey === null) throw new Error(`User ${user} has no S3 keys`);
  const endpoint = new URL(address).origin;
  return { endpoint, accountId, account, user, password: PASSWORD, accessKey, secretKey };
}
