import { fail } from '@granary/kernel';
import type { ArrayTools } from '../tools.ts';
import { findServer } from './repository.ts';
import { viewOfSessions, type ServerSessionView } from './view.ts';

/** Who is logged in. */
export class ServerSessions {
  readonly #tools: ArrayTools;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  async ofServer(server: string): Promise<ServerSessionView[]> {
    const { readings } = this.#tools;
    if (this.#displayNameOf(server) === null) throw fail('server_not_found', { id: server });
    await readings.refresh();
    const sessions = readings.sessions.filter((session) => session.server === server);
    return viewOfSessions(sessions, (name) => this.#displayNameOf(name)).map((session) => ({
      ...session,
      connected: 'YES',
    }));
  }

  async ofController(controller: string): Promise<Omit<ServerSessionView, 'connected'>[]> {
    const { readings } = this.#tools;
    await readings.refresh();
    const sessions = readings.sessions.filter((session) => session.controller === controller);
    return viewOfSessions(sessions, (name) => this.#displayNameOf(name));
  }

  async close(initiator: string, target: string, actor: string): Promise<void> {
    const { store, engine, events, readings } = this.#tools;
    await readings.refresh();
    const { server } = readings.sessions.find((one) => one.initiator === initiator && one.target === target) ?? {};
    const closed = await engine.dropSessions(initiator, target);
    if (closed === 0) throw fail('nothing_to_delete');
    await store.write((tx) => {
      const what = closed === 1 ? 'A session' : `${closed} sessions`;
      const title = `${what} of ${initiator} ${closed === 1 ? 'was' : 'were'} closed.`;
      const subject = server === undefined ? `session:${initiator}` : `server:${server}`;
      events.record(tx, { severity: 'notice', title, subject, actor });
    });
  }

  #displayNameOf(server: string): string | null {
    return this.#tools.store.read((db) => findServer(db, server))?.displayName ?? null;
  }
}
