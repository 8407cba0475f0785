import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { usageFailure } from '../exit.ts';
import { programs } from '../programs.ts';
import { arrayCacheFolder } from '../services/cache.ts';
import {
  addCloudOptions,
  addServiceOptions,
  CLOUD_PORT_DEFAULT,
  CLOUD_USER_DEFAULT,
  fromEnvironment,
  placesOf,
  readNamedFile,
  readPort,
  type ServiceOptions,
} from '../services/options.ts';
import { runServices } from '../services/run.ts';
import { greet, tellReady, warnIfOpen } from '../services/words.ts';
import type { Terminal } from '../terminal.ts';

interface CloudOptions extends ServiceOptions {
  readonly port: string;
  readonly config?: string;
  readonly addresses?: string;
  readonly adminUser: string;
  readonly adminKeyFile?: string;
}

export function addCloud(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('cloud');
  command.description('Run a cloud alone, for a portal on another machine');
  addServiceOptions(command, terminal);
  const port = new Option('--port <n>', 'Port to listen on; 0 takes a free one');
  command.addOption(fromEnvironment(port, terminal, 'GRANARY_CLOUD_PORT', CLOUD_PORT_DEFAULT));
  addCloudOptions(command);
  command.option('--admin-user <name>', 'Who the portal signs in as', CLOUD_USER_DEFAULT);
  command.option('--admin-key-file <file>', 'File that holds the key the portal signs in with (default: one is made)');
  command.action(async (options: CloudOptions) => runCloud(options, terminal));
}

async function runCloud(options: CloudOptions, terminal: Terminal): Promise<void> {
  const port = readPort(options.port, '--port');
  const places = placesOf(options);
  const adminKey = options.adminKeyFile === undefined ? undefined : readKey(options.adminKeyFile);
  greet(terminal, places.folder);
  warnIfOpen(terminal, options.host, false, 'Keep it on a network that only you use.');
  const { startCloud } = await import('@granary/cloud');
  await runServices({
    ...places,
    portFlags: { [port]: '--port' },
    terminal,
    async start(logFor, started) {
      const cloud = await startCloud({
        dataDir: places.folder,
        configFile: options.config,
        host: options.host,
        port,
        adminUser: options.adminUser,
        adminKey,
        programs: programs(),
        log: logFor('cloud'),
        addresses: options.addresses,
        cacheFolder: arrayCacheFolder(),
      });
      started({ name: 'cloud', stop: () => cloud.stop() });
      tellReady(terminal, cloud.url, [
        ['Address', `${cloud.address.host}:${cloud.address.port}`],
        ['Admin user', cloud.adminUser],
        ['Admin key', `in ${options.adminKeyFile ?? places.cloudKey}`],
        ['Register', 'at the portal: granary clouds create --name NAME --ip ADDRESS --admin-user USER --admin-key -'],
      ]);
    },
  });
}

function readKey(file: string): string {
  const key = readNamedFile(file, '--admin-key-file').trim();
  if (key === '') throw usageFailure(`--admin-key-file: ${file} is empty.`);
  return key;
}
