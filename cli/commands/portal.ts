import { existsSync } from 'node:fs';
import type { GranaryCommand } from '../command.ts';
import {
  addPortOption,
  addServiceOptions,
  addTlsOptions,
  placesOf,
  PORTAL_PORT_DEFAULT,
  readAdminPassword,
  readPort,
  readTls,
  type ServiceOptions,
  type TlsOptions,
} from '../services/options.ts';
import { runServices } from '../services/run.ts';
import { greet, passwordWords, tellIgnoredPassword, tellReady, warnIfOpen } from '../services/words.ts';
import type { Terminal } from '../terminal.ts';
import { version } from '../version.ts';

interface PortalOptions extends ServiceOptions, TlsOptions {
  readonly port: string;
}

export function addPortal(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('portal');
  command.description('Run the portal alone; register clouds with `granary clouds create`');
  addServiceOptions(command, terminal);
  addPortOption(command, terminal, PORTAL_PORT_DEFAULT);
  addTlsOptions(command);
  command.action(async (options: PortalOptions) => runPortal(options, terminal));
}

async function runPortal(options: PortalOptions, terminal: Terminal): Promise<void> {
  const port = readPort(options.port, '--port');
  const tls = readTls(options);
  const adminPassword = readAdminPassword(terminal);
  const places = placesOf(options);
  greet(terminal, places.folder);
  warnIfOpen(terminal, options.host, tls !== undefined, 'Give --tls-cert and --tls-key.');
  if (adminPassword !== undefined && existsSync(places.portalDatabase)) tellIgnoredPassword(terminal);
  const { startPortal } = await import('@granary/portal');
  await runServices({
    ...places,
    portFlags: { [port]: '--port' },
    terminal,
    async start(logFor, started) {
      const portal = await startPortal({
        dataDir: places.portal,
        host: options.host,
        port,
        version,
        adminPassword,
        log: logFor('portal'),
        tls,
      });
      started({ name: 'portal', stop: () => portal.stop() });
      tellReady(terminal, portal.url, [
        ['Portal', portal.url],
        ['API', `${portal.url}/api/docs`],
        ['User', 'admin'],
        ['Password', passwordWords(portal)],
      ]);
    },
  });
}
