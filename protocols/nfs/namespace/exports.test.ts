import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_ACCESS } from './export.ts';
import { Client3 } from '../testing/client3.ts';
import { ops } from '../testing/client4.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { RpcClient } from '../testing/rpc-client.ts';
import { serve } from '../testing/serve.ts';

const access = { ...DEFAULT_ACCESS, squash: 'none' } as const;

test('an export gets other paths and other rules while it is used: handles, opens and locks stay', async (context) => {
  const { server, filesystem, client3, client41, connect } = await serve(context);
  const [before, holder, rival] = [await client3(), await client41('holder'), await client41('rival')];
  const { state, handle } = await holder.open({ name: 'f', create: 'unchecked', access: 3 });
  const lock = ops.lock({ open: { state, clientId: holder.clientId } });
  assert.equal((await holder.compound(ops.put(handle), lock)).status, 0);

  server.replaceExport({ paths: ['/other', '/more/deep'], filesystem, authorise: () => access });
  await assert.rejects(Client3.mount(await connect(), '/share'));
  for (const path of ['/other', '/more/deep']) await Client3.mount(await connect(), path);
  assert.equal((await before.getattr(handle)).status, 0);
  const write = (text: string) => holder.compound(ops.put(handle), ops.write(state, 0, Buffer.from(text)));
  assert.equal((await write('open still')).status, 0);
  const test = ops.lockt(true, 0n, 10n, rival.clientId, 'rival');
  assert.notEqual((await rival.compound(ops.put(handle), test)).status, 0, 'the lock is held still');

  server.replaceExport({ paths: ['/other'], filesystem, authorise: () => ({ ...access, readOnly: true }) });
  assert.equal((await write('no more')).status, 30);
  server.addExport({ paths: ['/taken'], filesystem: new MemoryFilesystem({ id: 2n }), authorise: () => access });
  const conflict = { paths: ['/new', '/taken/below'], filesystem, authorise: () => access };
  assert.throws(() => server.replaceExport(conflict), /lie one within the other/);
  await Client3.mount(await connect(), '/other');
  await assert.rejects(Client3.mount(await connect(), '/new'), 'what cannot be done whole is not done in part');
});

test('a server that listens no more at one place goes on with who is in and at its other places', async (context) => {
  const { server, port, client3 } = await serve(context);
  const inside = await client3();
  const other = await server.listen({ host: '127.0.0.1', port: 0 });
  server.stopListening({ host: '127.0.0.1', port });
  await assert.rejects(RpcClient.open(port));
  assert.equal((await inside.getattr(inside.root)).status, 0);
  (await RpcClient.open(other.port)).close();
});
