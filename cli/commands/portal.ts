import { existsSync } from 'node:fs';
import { reachableHost } from '@granary/kernel/tls';
import type { GranaryCommand } from '../command.ts';
import {
  addPortOption,
  addServiceOptions,
  placesOf,
  PORTAL_PORT_DEFAULT,
  readAdminPassword,
  readPort,
  type ServiceOptions,
} from '../services/options.ts';
import { preferredPort } from '../services/ports.ts';
import { runServices } from '../services/run.ts';
import { builtConsoleOrNone } from '../services/console.ts';
import {
  addOwnCertificateOptions,
  authorityWords,
  installationAuthority,
  namesIn,
  ownCertificate,
  portalCertificate,
  wantsTls,
  type OwnCertificateOptions,
} from '../services/tls.ts';
import { greet, passwordWords, printIfMoved, printIgnoredPassword, printReady, warnIfOpen } from '../services/words.ts';
import type { Terminal } from '../terminal.ts';
import { version } from '../version.ts';

interface PortalOptions extends ServiceOptions, OwnCertificateOptions {
  readonly port?: string;
}

export function addPortal(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('portal');
  command.description('Run the portal alone; register clouds with `granary clouds create`');
  addServiceOptions(command, terminal);
  addPortOption(command, terminal, PORTAL_PORT_DEFAULT);
  addOwnCertificateOptions(command);
  command.action(async (options: PortalOptions) => runPortal(options, terminal));
}

async function runPortal(options: PortalOptions, terminal: Terminal): Promise<void> {
  const chosenPort = options.port === undefined ? undefined : readPort(options.port, '--port');
  const isTls = wantsTls(options.host, options);
  const own = ownCertificate(options);
  const adminPassword = readAdminPassword(terminal);
  const places = placesOf(options);
  greet(terminal, places.folder);
  warnIfOpen(terminal, options.host, isTls);
  if (adminPassword !== undefined && existsSync(places.portalDatabase)) printIgnoredPassword(terminal);
  const { startPortal } = await import('@granary/portal');
  const port = chosenPort ?? (await preferredPort({ host: options.host, port: Number(PORTAL_PORT_DEFAULT) }));
  await runServices({
    ...places,
    portFlags: { [port]: '--port' },
    terminal,
    async start(logFor, started) {
      const authority = installationAuthority(places.folder);
      const certificate = isTls
        ? portalCertificate({ host: options.host, names: namesIn(options), authority, own, log: logFor('portal') })
        : undefined;
      if (certificate) started({ name: 'certificate', stop: certificate.stop });
      const portal = await startPortal({
        dataDir: places.portal,
        consoleFolder: await builtConsoleOrNone(terminal),
        host: options.host,
        port,
        publicHost: reachableHost(options.host, namesIn(options)),
        version,
        adminPassword,
        log: logFor('portal'),
        tls: certificate?.source,
        authority,
        isInsecure: options.insecureHttp,
      });
      started({ name: 'portal', copyTo: (target) => portal.tools.store.copyTo(target), stop: () => portal.stop() });
      if (chosenPort === undefined) printIfMoved(terminal, portal.url);
      printReady(terminal, portal.url, [
        ['Portal', portal.url],
        ['API', `${portal.url}/api/docs`],
        ['User', 'admin'],
        ['Password', passwordWords(portal)],
        ...(isTls ? [['Authority', authorityWords(places.folder, authority)] as const] : []),
      ]);
    },
  });
}
