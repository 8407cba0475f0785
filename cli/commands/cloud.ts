import type { CloudTls } from '@granary/cloud';
import { certificateFingerprint, type Issuer } from '@granary/kernel/tls';
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
import {
  addTlsOptions,
  cloudIssuerFiles,
  hasAuthority,
  installationAuthority,
  namesIn,
  wantsTls,
  type TlsOptions,
} from '../services/tls.ts';
import { greet, tellReady, warnIfOpen } from '../services/words.ts';
import { sayAside, type Terminal } from '../terminal.ts';

interface CloudOptions extends ServiceOptions, TlsOptions {
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
  addTlsOptions(command);
  command.option('--admin-user <name>', 'Who the portal signs in as', CLOUD_USER_DEFAULT);
  command.option('--admin-key-file <file>', 'File that holds the key the portal signs in with (default: one is made)');
  command.action(async (options: CloudOptions) => runCloud(options, terminal));
}

async function runCloud(options: CloudOptions, terminal: Terminal): Promise<void> {
  const port = readPort(options.port, '--port');
  const places = placesOf(options);
  const adminKey = options.adminKeyFile === undefined ? undefined : readKey(options.adminKeyFile);
  greet(terminal, places.folder);
  const isTls = wantsTls(options.host, options);
  warnIfOpen(terminal, options.host, isTls);
  const { startCloud } = await import('@granary/cloud');
  await runServices({
    ...places,
    portFlags: { [port]: '--port' },
    terminal,
    async start(logFor, started) {
      const tls = isTls ? cloudTls(places.folder, options) : undefined;
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
        tls,
      });
      started({ name: 'cloud', copyTo: (target) => cloud.copyTo(target), stop: () => cloud.stop() });
      for (const notice of cloud.notices) sayAside(terminal, `Warning: ${notice}`);
      tellReady(
        terminal,
        cloud.url,
        [
          ['Address', `${cloud.address.host}:${cloud.address.port}`],
          ['Admin user', cloud.adminUser],
          ['Admin key', `in ${options.adminKeyFile ?? places.cloudKey}`],
          ...(tls ? [['Authority', `SHA-256 ${certificateFingerprint(tls.issuer.authority)}`] as const] : []),
          ['Register', 'at the portal: granary clouds create --name NAME --ip ADDRESS --admin-user USER --admin-key -'],
        ],
        cloud.arrayCounts(),
      );
    },
  });
}

/** The issuer a portal signed for it; else one of an authority of its own, which the portal is told the fingerprint of. */
function cloudTls(folder: string, options: CloudOptions): CloudTls {
  const files = cloudIssuerFiles(folder);
  const kept = files.load();
  const names = namesIn(options);
  if (kept && !isOwn(folder, kept)) return { issuer: kept, portalAuthority: kept.authority, names };
  return { issuer: files.ensure(installationAuthority(folder), Date.now()), names };
}

function isOwn(folder: string, issuer: Issuer): boolean {
  return hasAuthority(folder) && installationAuthority(folder).certificate === issuer.authority;
}

function readKey(file: string): string {
  const key = readNamedFile(file, '--admin-key-file').trim();
  if (key === '') throw usageFailure(`--admin-key-file: ${file} is empty.`);
  return key;
}
