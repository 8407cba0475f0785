import type { EngineCall } from './protocol.ts';

/** In the order in which a new controller is told: what stands on what, and servers last. */
const KINDS = ['drive', 'group', 'pool', 'key', 'caps', 'sizes', 'accounts', 'share', 'hold', 'server'] as const;
type Kind = (typeof KINDS)[number];

/** What an engine does not keep itself, remembered for the next controller. */
export class Told {
  readonly #calls = new Map<Kind, Map<string, EngineCall>>(KINDS.map((kind) => [kind, new Map<string, EngineCall>()]));
  /** When a hold ends by itself. */
  readonly #holds = new Map<string, number>();

  /** After the engine has done it. */
  note({ method, args }: EngineCall): void {
    switch (method) {
      case 'takeDriveOffline':
        this.#keep('drive', args[0], { method, args });
        return;
      case 'bringDriveOnline':
        this.#drop(args[0], 'drive');
        return;
      case 'createGroup':
        this.#keep('group', args[0].id, { method: 'setResyncSpeed', args: [args[0].id, args[0].speed] });
        return;
      case 'setResyncSpeed':
        this.#keep('group', args[0], { method, args });
        return;
      case 'deleteGroup':
        this.#drop(args[0], 'group');
        return;
      case 'setPoolCache':
        this.#keep('pool', args[0], { method, args });
        return;
      case 'deletePool':
        this.#drop(args[0], 'pool');
        return;
      case 'putServer':
        this.#keep('server', args[0].id, { method, args });
        return;
      case 'removeServer':
        this.#drop(args[0], 'server');
        return;
      default:
        this.#noteOfVolume({ method, args } as EngineCall);
    }
  }

  #noteOfVolume({ method, args }: EngineCall): void {
    switch (method) {
      case 'createVolume':
        if (args[0].key !== undefined) this.#keepKey(args[0].id, args[0].key);
        return;
      case 'unlockVolume':
        this.#keepKey(args[0], args[1]);
        return;
      case 'setCaps':
        if (Object.values(args[1]).every((cap) => cap === 0)) this.#drop(args[0], 'caps');
        else this.#keep('caps', args[0], { method, args });
        return;
      case 'countSizes':
        if (args[1]) this.#keep('sizes', args[0], { method, args });
        else this.#drop(args[0], 'sizes');
        return;
      case 'holdWrites':
        for (const volume of args[0]) this.#holds.set(volume, Date.now() + args[1]);
        return;
      case 'releaseWrites':
        for (const volume of args[0]) this.#holds.delete(volume);
        return;
      case 'deleteVolume':
        this.#holds.delete(args[0]);
        this.#drop(args[0], 'key', 'caps', 'sizes', 'share');
        return;
      case 'putShare':
        this.#keep('share', args[0].volume, { method, args });
        return;
      case 'removeShare':
        this.#drop(args[0], 'share');
        return;
      case 'putNasAccounts':
        this.#keep('accounts', '', { method, args });
    }
  }

  /** Writes of volumes are held back at this moment. */
  get holdsWrites(): boolean {
    const now = Date.now();
    return [...this.#holds.values()].some((until) => until > now);
  }

  /** Everything, as calls to a new controller's engine. */
  calls(): EngineCall[] {
    const now = Date.now();
    for (const [volume, until] of this.#holds) if (until <= now) this.#holds.delete(volume);
    const holds = [...this.#holds].map(([volume, until]): EngineCall => ({
      method: 'holdWrites',
      args: [[volume], until - now],
    }));
    return KINDS.flatMap((kind) => (kind === 'hold' ? holds : [...(this.#calls.get(kind)?.values() ?? [])]));
  }

  /** A copy: whoever gave the key may wipe it. */
  #keepKey(volume: string, key: Uint8Array): void {
    this.#keep('key', volume, { method: 'unlockVolume', args: [volume, Uint8Array.from(key)] });
  }

  #keep(kind: Kind, id: string, call: EngineCall): void {
    this.#calls.get(kind)?.set(id, call);
  }

  #drop(id: string, ...kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#calls.get(kind)?.delete(id);
  }
}
