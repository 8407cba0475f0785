import type { TestContext } from 'node:test';
import type { BlockDevice, Done } from '@granary/storage';
import type { IscsiEvent } from '../../events.ts';
import { MemoryReservationStore } from '../../scsi/reservations/reservation-store.ts';
import { IscsiServer, type IscsiServerOptions } from '../../server.ts';
import type { Access, IscsiTarget } from '../../target.ts';
import { Initiator, RamDevice, type LoginOptions, type Lun, type InitiatorSession } from '../../testing/index.ts';

export const TARGET = 'iqn.2026-01.com.granary.test:unit';
export const UNIT_BYTES = 8 * 1024 * 1024;

export interface Served {
  readonly server: IscsiServer;
  readonly target: IscsiTarget;
  readonly device: RamDevice;
  readonly events: IscsiEvent[];
  readonly port: number;
  readonly login: (options?: Partial<LoginOptions>) => Promise<InitiatorSession>;
  /** A session with its first unit, ready for use. */
  readonly open: (options?: Partial<LoginOptions>) => Promise<{ session: InitiatorSession; lun: Lun }>;
}

export interface ServeOptions extends Partial<IscsiServerOptions> {
  readonly device?: BlockDevice;
  readonly authorise?: (initiatorName: string, remoteAddress: string) => Access | undefined;
}

/** A server with one unit for one test; it is gone when the test ends. */
export async function serve(context: TestContext, options: ServeOptions = {}): Promise<Served> {
  const events: IscsiEvent[] = [];
  const server = new IscsiServer({
    reservations: new MemoryReservationStore(),
    onEvent: (event) => events.push(event),
    ...options,
  });
  const device = new RamDevice(UNIT_BYTES);
  const target = server.addTarget({ iqn: TARGET, authorise: options.authorise ?? (() => ({})) });
  target.setLun(0, { device: options.device ?? device, serial: 'unit-0', naa: '3000000000000001' });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const sessions: InitiatorSession[] = [];
  context.after(async () => {
    for (const session of sessions) session.destroy();
    await server.close();
  });
  const login = async (own: Partial<LoginOptions> = {}) => {
    const session = await Initiator.login({ host: '127.0.0.1', port, targetName: TARGET, ...own });
    sessions.push(session);
    return session;
  };
  const open = async (own: Partial<LoginOptions> = {}) => {
    const session = await login(own);
    const lun = session.lun(0);
    await lun.clearUnitAttentions();
    return { session, lun };
  };
  return { server, target, device, events, port, login, open };
}

/** A device whose reads and writes wait until they are let through. */
export class GatedDevice implements BlockDevice {
  readonly sizeBytes: number;
  readonly readOnly = false;
  readonly #inner: RamDevice;
  #waiting: (() => void)[] = [];
  #open = false;

  constructor(sizeBytes: number) {
    this.sizeBytes = sizeBytes;
    this.#inner = new RamDevice(sizeBytes);
  }

  read(offset: number, into: Buffer): Done {
    return this.#gated(() => this.#inner.read(offset, into));
  }

  write(offset: number, from: Buffer): Done {
    return this.#gated(() => this.#inner.write(offset, from));
  }

  flush(): Promise<void> {
    return this.#inner.flush();
  }

  discard(offset: number, length: number): undefined {
    this.#inner.discard(offset, length);
  }

  mapped(offset: number, length: number): { readonly length: number; readonly mapped: boolean }[] {
    return this.#inner.mapped(offset, length);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Lets everything through that waits, and everything that comes. */
  openUp(): void {
    this.#open = true;
    for (const go of this.#waiting) go();
    this.#waiting = [];
  }

  #gated(action: () => Done): Done {
    if (this.#open) return action();
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(action);
  }
}
