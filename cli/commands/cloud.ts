import { existsSync } from 'node:fs';
import type { CloudTls } from '@granary/cloud';
import { certificateFingerprint, daysLeft, type Issuer } from '@granary/kernel/tls';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { usageFailure } from '../exit.ts';
import { programs } from '../programs.ts';
import { arrayCacheFolder } from '../services/cache.ts';
import { builtConsoleOrNone } from '../services/console.ts';
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
import { findPortal, joinPortal, markOf, readJoinCode, type PortalToJoin } from '../services/join.ts';
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
import { greet, printReady, warnIfOpen } from '../services/words.ts';
import { print, printToStderr, type Terminal } from '../terminal.ts';

const REGISTER = 'at the portal: granary clouds join-code --name NAME; then start again with --join CODE';

interface CloudOptions extends ServiceOptions, TlsOptions {
  readonly port: string;
  readonly config?: string;
  readonly addresses?: string;
  readonly adminUser: string;
  readonly adminKeyFile?: string;
  readonly join?: string;
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
  const join = new Option('--join <code>', 'Join a portal by a code of `granary clouds join-code`; once is enough');
  command.addOption(fromEnvironment(join, terminal, 'GRANARY_JOIN'));
  command.action(async (options: CloudOptions) => runCloud(options, terminal));
}

async function runCloud(options: CloudOptions, terminal: Terminal): Promise<void> {
  const port = readPort(options.port, '--port');
  const places = placesOf(options);
  const adminKey = options.adminKeyFile === undefined ? undefined : readKey(options.adminKeyFile);
  const files = cloudIssuerFiles(places.folder);
  const code = options.join === undefined ? undefined : readJoinCode(options.join);
  const isJoining = code !== undefined && files.joinedBy() !== markOf(code);
  if (isJoining && existsSync(places.portalDatabase))
    throw usageFailure(`--join: ${places.folder} holds a portal of its own; choose another folder with --data.`);
  const isTls = servesTls(places.folder, options, isJoining);
  greet(terminal, places.folder);
  warnIfOpen(terminal, options.host, isTls);
  const { startCloud } = await import('@granary/cloud');
  await runServices({
    ...places,
    portFlags: { [port]: '--port' },
    terminal,
    async start(logFor, started) {
      const portal = isJoining ? await findPortal(code) : undefined;
      const tls = isTls ? cloudTls(places.folder, options, portal) : undefined;
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
        consoleFolder: await builtConsoleOrNone(terminal),
        tls,
      });
      started({ name: 'cloud', copyTo: (target) => cloud.copyTo(target), stop: () => cloud.stop() });
      if (portal && tls) {
        const name = await joinPortal(portal, { cloud, files, unsigned: tls.issuer, names: namesIn(options) });
        print(terminal, `Joined the portal at ${portal.code.portal} as ${name}; --join is not needed again.`);
      }
      if (tls) warnIfEnded(terminal, tls);
      for (const notice of cloud.notices) printToStderr(terminal, `Warning: ${notice}`);
      printReady(
        terminal,
        cloud.url,
        [
          ['Address', `${cloud.address.host}:${cloud.address.port}`],
          ['Admin user', cloud.adminUser],
          ['Admin key', `in ${options.adminKeyFile ?? places.cloudKey}`],
          ...(tls
            ? [['Authority', `SHA-256 ${certificateFingerprint(tls.portalAuthority ?? tls.issuer.authority)}`] as const]
            : []),
          ...(tls?.portalAuthority === undefined ? [['Register', REGISTER] as const] : []),
        ],
        cloud.arrayCounts(),
      );
    },
  });
}

/** The portal knows a cloud that joined by its certificate, and reaches it over TLS alone. */
function servesTls(folder: string, options: CloudOptions, isJoining: boolean): boolean {
  if (!isJoining && !joinedIssuer(folder)) return wantsTls(options.host, options);
  if (options.insecureHttp)
    throw usageFailure(
      '--insecure-http: this cloud joins a portal by a code, and its portal reaches it over TLS alone.',
    );
  return true;
}

/**
 * One that joins now serves with a certificate of its own key until the portal has signed that; one that has joined, with
 * what was signed; any other cloud has its own authority, and the portal is given its fingerprint.
 */
function cloudTls(folder: string, options: CloudOptions, portal: PortalToJoin | undefined): CloudTls {
  const files = cloudIssuerFiles(folder);
  const names = namesIn(options);
  const joined = portal ? files.unsigned(Date.now()) : joinedIssuer(folder);
  if (!joined) return { issuer: files.ensure(installationAuthority(folder), Date.now()), names };
  const portalAuthority = portal?.authority ?? joined.authority;
  return { issuer: joined, portalAuthority, names, accept: (chain) => files.accept(chain, portalAuthority) };
}

function joinedIssuer(folder: string): Issuer | undefined {
  const kept = cloudIssuerFiles(folder).load();
  return kept && !isOwn(folder, kept) ? kept : undefined;
}

/** The certificate expires after a year without the portal. Arrays keep running; the message says how to rejoin. */
function warnIfEnded(terminal: Terminal, { issuer }: CloudTls): void {
  if (daysLeft(issuer.certificate, Date.now()) > 0) return;
  const how = 'make a code there (`granary clouds join-code`) and start with --join CODE';
  printToStderr(terminal, `Warning: the certificate of this cloud has ended, and its portal refuses it; ${how}.`);
}

function isOwn(folder: string, issuer: Issuer): boolean {
  return hasAuthority(folder) && installationAuthority(folder).certificate === issuer.authority;
}

function readKey(file: string): string {
  const key = readNamedFile(file, '--admin-key-file').trim();
  if (key === '') throw usageFailure(`--admin-key-file: ${file} is empty.`);
  return key;
}
