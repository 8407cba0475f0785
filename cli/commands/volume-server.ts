import { resolve } from 'node:path';
import { Option } from 'commander';
import type { RaidLevel } from '@granary/storage';
import type { GranaryCommand } from '../command.ts';
import { usageFailure } from '../exit.ts';
import { readPort } from '../services/options.ts';
import { runServices } from '../services/run.ts';
import { printReady, warnIfOpen } from '../services/words.ts';
import type { Terminal } from '../terminal.ts';
import { readCommands } from '../volume-server/console.ts';
import { readChapSecret } from '../volume-server/chap-secret.ts';
import { readSize } from '../volume-server/size.ts';
import { LEVELS } from '../volume-server/wanted.ts';

interface VolumeServerOptions {
  readonly dir: string;
  readonly size: string;
  readonly host: string;
  readonly port: string;
  readonly level?: RaidLevel;
  readonly drives?: string;
  readonly compression?: boolean;
  readonly deduplication?: boolean;
  readonly cache: string;
  readonly iqn: string;
  readonly chapFile?: string;
  readonly initiator?: string[];
}

const PORT_DEFAULT = '3260';
const SIZE_BYTES_MAX = 2 ** 50;
const CACHE_BYTES_MAX = 4 * 2 ** 30;

export function addVolumeServer(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('volume-server');
  command.description('Export one volume of a throw-away pool over iSCSI, to try and to measure');
  command.requiredOption('--dir <folder>', 'Where its drives are kept; opened again when it holds a volume already');
  command.requiredOption('--size <size>', 'Size of the volume: 512M, 10G, 2T');
  command.option('--host <address>', 'Address to listen on', '127.0.0.1');
  command.option('--port <n>', 'Port to listen on; 0 takes a free one', PORT_DEFAULT);
  command.addOption(
    new Option('--level <level>', 'Level of the RAID group (default: RAID1)').choices(Object.keys(LEVELS)),
  );
  command.option('--drives <n>', 'How many drives (default: the fewest the level takes)');
  command.option('--compression', 'Compress what is written');
  command.option('--deduplication', 'Store what is the same once');
  command.option('--cache <size>', 'Memory for blocks read lately; 0 for none', '0');
  command.option('--iqn <name>', 'Name of the target', 'iqn.2026-01.io.granary:volume');
  command.option('--chap-file <file>', 'Holds USER:SECRET, which an initiator must prove (or set GRANARY_CHAP)');
  command.option('--initiator <iqn...>', 'Initiators that may come in (default: any)');
  command.action(async (options: VolumeServerOptions) => runVolumeServer(options, terminal));
}

async function runVolumeServer(options: VolumeServerOptions, terminal: Terminal): Promise<void> {
  const port = readPort(options.port, '--port');
  const folder = resolve(options.dir);
  const wanted = {
    folder,
    sizeBytes: readSize(options.size, '--size', SIZE_BYTES_MAX),
    level: options.level,
    drives: readDrives(options.drives),
    compression: options.compression === true,
    deduplication: options.deduplication === true,
    cacheBytes: options.cache === '0' ? 0 : readSize(options.cache, '--cache', CACHE_BYTES_MAX),
  };
  const chap = readChapSecret(options.chapFile, terminal.env['GRANARY_CHAP']);
  warnIfOpen(terminal, options.host, false, 'Keep it on a network that only you use.');
  const { ScratchVolume } = await import('../volume-server/scratch-volume.ts');
  const { exportVolume } = await import('../volume-server/export.ts');
  await runServices({
    folder,
    folderFlag: '--dir',
    log: `${folder}/granary.log`,
    portFlags: { [port]: '--port' },
    terminal,
    async start(logFor, started) {
      const log = logFor('volume-server');
      const scratch = await ScratchVolume.open({ ...wanted, onEvent: (event) => log.info({ event }, 'storage') });
      started({ name: 'storage', stop: () => scratch.close() });
      const { iqn, host, initiator } = options;
      const server = await exportVolume({
        volume: scratch.volume,
        folder,
        host,
        port,
        iqn,
        chap,
        initiators: initiator,
      });
      started({ name: 'iscsi', stop: () => server.close() });
      const console = readCommands(terminal, scratch);
      started({ name: 'console', stop: () => console.close() });
      printReady(terminal, server.url, [
        ['Volume', scratch.describe()],
        ['Initiators', initiator?.join(', ') ?? (chap ? 'any that proves the secret' : 'any')],
        ['While it runs', 'type help to see what you can do to its drives'],
      ]);
    },
  });
}

function readDrives(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw usageFailure(`--drives must be a number, not ${text}.`);
}
