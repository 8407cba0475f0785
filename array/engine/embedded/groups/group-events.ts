import type { GroupEvent } from '@granary/storage';
import type { OnEngineEvent } from '../../engine.ts';
import type { EngineEvent } from '../../events.ts';

const COUNT_MS = 1000;

/** Translates events of a group to engine events. Single blocks are counted: thousands may be repaired in a second. */
export class GroupEvents {
  readonly #group: string;
  readonly #publish: OnEngineEvent;
  readonly #repaired = new Map<string, number>();
  readonly #rejected = new Map<string, number>();
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(group: string, publish: OnEngineEvent) {
    this.#group = group;
    this.#publish = publish;
  }

  accept(event: GroupEvent): void {
    switch (event.type) {
      case 'block-repaired':
        this.#repaired.set(event.driveId, (this.#repaired.get(event.driveId) ?? 0) + 1);
        this.#publishSoon();
        break;
      case 'checksums-rejected':
        this.#rejected.set(event.driveId, (this.#rejected.get(event.driveId) ?? 0) + 1);
        this.#publishSoon();
        break;
      case 'block-lost':
        this.#lost += 1;
        this.#publishSoon();
        break;
      default: {
        const published = toEngineEvent(this.#group, event);
        if (published) this.#publish(published);
      }
    }
  }

  /** Whatever was counted so far. */
  publishCounts(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#group;
    for (const [drive, count] of this.#rejected) this.#publish({ type: 'checksums-rejected', drive, group, count });
    this.#rejected.clear();
    for (const [drive, count] of this.#repaired) this.#publish({ type: 'blocks-repaired', drive, group, count });
    this.#repaired.clear();
    if (this.#lost > 0) this.#publish({ type: 'blocks-lost', group, count: this.#lost });
    this.#lost = 0;
  }

  #publishSoon(): void {
    this.#timer ??= setTimeout(() => this.publishCounts(), COUNT_MS).unref();
  }
}

type Single = Exclude<GroupEvent, { readonly type: 'block-repaired' | 'block-lost' | 'checksums-rejected' }>;

function toEngineEvent(group: string, event: Single): EngineEvent | undefined {
  switch (event.type) {
    case 'drive-failed':
    case 'spare-failed':
      return { type: event.type, drive: event.driveId, group, reason: event.reason };
    case 'drive-returned':
    case 'spare-taken':
    case 'rebuild-started':
    case 'rebuild-finished':
      return { type: event.type, drive: event.driveId, group };
    case 'resync-started':
    case 'resync-finished':
    case 'group-resumed':
      return { type: event.type, group };
    case 'no-space':
      return { type: event.type, group, reason: event.reason };
    case 'group-failed':
      return { type: event.type, group, drives: event.missing };
    // It was not asked for and changes nothing.
    case 'drive-ignored':
      return undefined;
  }
}
