import { DEFAULT_ACCESS, NfsServer, VolumeFilesystem } from '@granary/protocols/nfs';
import { openFilesystem } from './volume.ts';

const access = { ...DEFAULT_ACCESS, squash: 'none', sync: false } as const;

/** A share as a process of its own: the folder it is in is the last argument. Says its port to its parent, ends with it. */
const { filesystem, close } = await openFilesystem(process.argv.at(-1) as string);
const server = new NfsServer({ serverName: 'bench' });
server.addExport({ paths: ['/share'], filesystem: await VolumeFilesystem.of(filesystem), authorise: () => access });
const { port } = await server.listen({ host: '127.0.0.1', port: 0 });

process.on('disconnect', () => void end());
process.send?.({ port });

async function end(): Promise<void> {
  await server.close();
  await close();
  process.exit(0);
}
