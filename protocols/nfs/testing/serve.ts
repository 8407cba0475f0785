import type { TestContext } from 'node:test';
import type { NfsEvent } from '../events.ts';
import type { Filesystem } from '../filesystem.ts';
import { DEFAULT_ACCESS, type ExportAccess, type NfsExport } from '../namespace/export.ts';
import { NfsServer, type NfsServerOptions } from '../server.ts';
import { MemoryFilesystem } from './memory-filesystem.ts';
import { RpcClient, type ClientCredentials } from './rpc-client.ts';
import { Client3 } from './client3.ts';
import { Client40, Client41 } from './client4.ts';

export interface Served<F extends Filesystem = MemoryFilesystem> {
  readonly server: NfsServer;
  readonly filesystem: F;
  readonly events: NfsEvent[];
  readonly port: number;
  readonly connect: (credentials?: ClientCredentials) => Promise<RpcClient>;
  readonly client3: (credentials?: ClientCredentials) => Promise<Client3>;
  readonly client40: (name: string, credentials?: ClientCredentials) => Promise<Client40>;
  readonly client41: (name: string, credentials?: ClientCredentials) => Promise<Client41>;
}

export interface ServeOptions<F extends Filesystem = MemoryFilesystem> extends Partial<NfsServerOptions> {
  readonly filesystem?: F;
  readonly access?: Partial<ExportAccess>;
  readonly export?: Partial<NfsExport>;
}

/** A server with one export, `/share`, for one test; it is gone when the test ends. Root is root there. */
export async function serve<F extends Filesystem = MemoryFilesystem>(
  context: TestContext,
  options: ServeOptions<F> = {},
): Promise<Served<F>> {
  const events: NfsEvent[] = [];
  const server = new NfsServer({ serverName: 'test', onEvent: (event) => events.push(event), ...options });
  const filesystem = options.filesystem ?? (new MemoryFilesystem() as Filesystem as F);
  const access: ExportAccess = { ...DEFAULT_ACCESS, squash: 'none', ...options.access };
  server.addExport({ paths: ['/share'], filesystem, authorise: () => access, ...options.export });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const clients: RpcClient[] = [];
  context.after(async () => {
    for (const client of clients) client.close();
    await server.close();
  });
  const connect = async (credentials: ClientCredentials = { uid: 0, gid: 0 }) => {
    const client = await RpcClient.open(port);
    client.credentials = credentials;
    clients.push(client);
    return client;
  };
  const client3 = async (credentials?: ClientCredentials) => Client3.mount(await connect(credentials), '/share');
  const client40 = async (name: string, own?: ClientCredentials) => Client40.connect(await connect(own), name);
  const client41 = async (name: string, own?: ClientCredentials) => Client41.connect(await connect(own), name);
  return { server, filesystem, events, port, connect, client3, client40, client41 };
}
