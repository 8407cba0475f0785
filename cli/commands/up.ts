import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { reachableHost } from '@granary/kernel/tls';
import type { GranaryCommand } from '../command.ts';
import { programs } from '../programs.ts';
import { arrayCacheFolder } from '../services/cache.ts';
import { builtConsoleOrNone } from '../services/console.ts';
import {
  addCloudOptions,
  addPortOption,
  addServiceOptions,
  CLOUD_PORT_DEFAULT,
  CLOUD_USER_DEFAULT,
  fromEnvironment,
  placesOf,
  PORTAL_PORT_DEFAULT,
  readAdminPassword,
  readPort,
  type ServiceOptions,
} from '../services/options.ts';
import { onPreferredPort, preferredPort } from '../services/ports.ts';
import { runServices } from '../services/run.ts';
import {
  addOwnCertificateOptions,
  authorityWords,
  cloudIssuerFiles,
  installationAuthority,
  namesIn,
  ownCertificate,
  portalCertificate,
  wantsTls,
  type OwnCertificateOptions,
} from '../services/tls.ts';
import {
  greet,
  passwordWords,
  printIfMoved,
  printIgnoredPassword,
  printReady,
  printReadyWithoutPortal,
  warnIfOpen,
} from '../services/words.ts';
import { printToStderr, type Terminal } from '../terminal.ts';
import { version } from '../version.ts';

/** Only the portal of the same process talks to the cloud. */
const LOCAL_CLOUD_HOST = '127.0.0.1';

const CLOUD_PLACE = { host: LOCAL_CLOUD_HOST, port: Number(CLOUD_PORT_DEFAULT) };

interface UpOptions extends ServiceOptions, OwnCertificateOptions {
  readonly port?: string;
  readonly cloudPort?: string;
  readonly config?: string;
  readonly addresses?: string;
}

export function addUp(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('up');
  command.description('Run Granary on this machine: the portal and a cloud');
  addServiceOptions(command, terminal);
  addPortOption(command, terminal, PORTAL_PORT_DEFAULT);
  const cloudPort = new Option(
    '--cloud-port <n>',
    `Port of the cloud, on ${LOCAL_CLOUD_HOST} (default: ${CLOUD_PORT_DEFAULT}, or a free one where that is taken)`,
  );
  command.addOption(fromEnvironment(cloudPort, terminal, 'GRANARY_CLOUD_PORT'));
  addCloudOptions(command);
  addOwnCertificateOptions(command);
  command.action(async (options: UpOptions) => up(options, terminal));
}

async function up(options: UpOptions, terminal: Terminal): Promise<void> {
  const chosenPort = options.port === undefined ? undefined : readPort(options.port, '--port');
  const cloudPort = options.cloudPort === undefined ? undefined : readPort(options.cloudPort, '--cloud-port');
  const isTls = wantsTls(options.host, options);
  const own = ownCertificate(options);
  const adminPassword = readAdminPassword(terminal);
  const places = placesOf(options);
  greet(terminal, places.folder);
  warnIfOpen(terminal, options.host, isTls);
  if (adminPassword !== undefined && existsSync(places.portalDatabase)) printIgnoredPassword(terminal);
  const [{ startCloud }, { checkPortalKey, startPortal }] = await Promise.all([
    import('@granary/cloud'),
    import('@granary/portal'),
  ]);
  const port = chosenPort ?? (await preferredPort(portalPlace(options.host, cloudPort)));
  await runServices({
    ...places,
    portFlags: { [port]: '--port', ...(cloudPort !== undefined && { [cloudPort]: '--cloud-port' }) },
    terminal,
    async start(logFor, started) {
      await checkPortalKey(places.portal);
      const consoleFolder = await builtConsoleOrNone(terminal);
      const authority = installationAuthority(places.folder);
      const certificate = isTls
        ? portalCertificate({ host: options.host, names: namesIn(options), authority, own, log: logFor('portal') })
        : undefined;
      if (certificate) started({ name: 'certificate', stop: certificate.stop });
      const issuer = isTls ? cloudIssuerFiles(places.folder).ensure(authority, Date.now()) : undefined;
      const startOn = (portOfCloud: number) =>
        startCloud({
          dataDir: places.folder,
          configFile: options.config,
          host: LOCAL_CLOUD_HOST,
          port: portOfCloud,
          adminUser: CLOUD_USER_DEFAULT,
          programs: programs(),
          log: logFor('cloud'),
          addresses: options.addresses,
          cacheFolder: arrayCacheFolder(),
          consoleFolder,
          tls: issuer && { issuer, portalAuthority: authority.certificate },
        });
      const cloud =
        cloudPort === undefined
          ? await onPreferredPort({ ...CLOUD_PLACE, apartFrom: [port] }, startOn)
          : await startOn(cloudPort);
      started({ name: 'cloud', copyTo: (target) => cloud.copyTo(target), stop: () => cloud.stop() });
      for (const notice of cloud.notices) printToStderr(terminal, `Warning: ${notice}`);
      const cloudAddress = `${cloud.address.host}:${cloud.address.port}`;
      const portal = await unlessDamaged(() =>
        startPortal({
          dataDir: places.portal,
          consoleFolder,
          host: options.host,
          port,
          publicHost: reachableHost(options.host, namesIn(options)),
          version,
          adminPassword,
          log: logFor('portal'),
          tls: certificate?.source,
          authority,
          isInsecure: options.insecureHttp,
          localCloud: {
            address: cloudAddress,
            adminUser: cloud.adminUser,
            adminKey: cloud.adminKey,
            trusted: issuer?.certificate ?? null,
          },
        }),
      );
      if (portal instanceof Error) {
        printToStderr(terminal, `Warning: the portal is not served. ${portal.message}`);
        printReadyWithoutPortal(terminal, cloud.url, cloud.arrayCounts());
        return;
      }
      started({ name: 'portal', copyTo: (target) => portal.tools.store.copyTo(target), stop: () => portal.stop() });
      if (chosenPort === undefined) printIfMoved(terminal, portal.url);
      printReady(
        terminal,
        portal.url,
        [
          ['Portal', portal.url],
          ['API', `${portal.url}/api/docs`],
          ['Cloud', cloudAddress],
          ['User', 'admin'],
          ['Password', passwordWords(portal)],
          ...(isTls ? [['Authority', authorityWords(places.folder, authority)] as const] : []),
          ['Log', places.log === '-' ? 'standard output' : places.log],
        ],
        cloud.arrayCounts(),
      );
    },
  });
}

function portalPlace(host: string, cloudPort: number | undefined) {
  return { host, port: Number(PORTAL_PORT_DEFAULT), apartFrom: [cloudPort ?? CLOUD_PLACE.port] };
}

/** A damaged database of the portal keeps no array from serving: the damage is reported, and the rest starts. */
async function unlessDamaged<T>(start: () => Promise<T>): Promise<T | Error> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof Error && error.name === 'DamagedDatabaseError') return error;
    throw error;
  }
}
