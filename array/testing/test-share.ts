import assert from 'node:assert/strict';
import { arrayApi } from '@granary/contract/array';
import { Client3 } from '../../protocols/nfs/testing/client3.ts';
import { RpcClient, type ClientCredentials } from '../../protocols/nfs/testing/rpc-client.ts';
import type { Lasting, TestArray } from './test-array.ts';

const { controllers, servers, volumes } = arrayApi.groups;
/** All clients on this machine. */
const ADDRESS = '127.0.0.0/8';

/** Attaches the share to a server over NFS, unless it is attached already; the server's name. */
async function attachShare(array: TestArray, share: string): Promise<string> {
  const { client } = array;
  const { servers: attached } = await client.call(volumes.listServers, { id: share });
  if (attached[0]) return attached[0].name;
  const server = { display_name: `server of ${share}`, iscsi: ADDRESS, force: true };
  const { server_name } = await client.call(servers.create, server);
  await client.call(servers.attachVolumes, { id: [server_name], volume_name: [share], access_type: 'NFS' });
  return server_name;
}

/** Mounts a share as one of its clients does. */
export async function mountShare(
  t: Lasting,
  array: TestArray,
  share: string,
  credentials: ClientCredentials = { uid: 0, gid: 0 },
): Promise<Client3> {
  const { client, configuration } = array;
  await attachShare(array, share);
  const { vcontrollers } = await client.call(controllers.list, {});
  const active = vcontrollers.find(({ state }) => state === 'active');
  assert.ok(active);
  const { nfs_export_path } = (await client.call(volumes.get, { id: share })).volume;
  const rpc = await RpcClient.open(configuration.filePort, active.iscsi_ip);
  t.after(() => rpc.close());
  rpc.credentials = credentials;
  return Client3.mount(rpc, String(nfs_export_path).replace(/^[^/]*:/, ''));
}

/** Makes a file of these bytes; safe when it resolves. */
export async function writeFile(mount: Client3, name: string, bytes: Buffer, directory = mount.root): Promise<Buffer> {
  const { status, handle } = await mount.create(directory, name, { mode: 0o666 });
  assert.equal(status, 0);
  assert.equal((await mount.write(handle, 0, bytes)).status, 0);
  return handle;
}
