import { counted } from '@granary/contract';
import { fail, type Db, type Page, type Tx } from '@granary/kernel';
import type { ProviderGroupId } from '../ids.ts';
import type { PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import type { ProviderGroup } from './provider.ts';
import * as repository from './repository.ts';
import { groupView, type GroupView } from './view.ts';

/** Providers that belong together, such as those of one region. */
export class ProviderGroups {
  readonly #tools: Tools;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  list(page: Page): { groups: GroupView[]; total: number } {
    return this.#tools.store.read((db) => ({
      groups: repository.listGroups(db, page).map(groupView),
      total: repository.countGroups(db),
    }));
  }

  get(id: ProviderGroupId): GroupView {
    return groupView(this.#tools.store.read((db) => this.#existing(db, id)));
  }

  create(name: string, actor: PortalActor): Promise<number> {
    return this.#tools.store.write((tx) => {
      this.#refuseTaken(tx, name, undefined);
      const id = repository.insertGroup(tx, name);
      this.#record(tx, id, `Provider group ${name} was added.`, actor);
      return id;
    });
  }

  rename(id: ProviderGroupId, name: string, actor: PortalActor): Promise<number> {
    return this.#tools.store.write((tx) => {
      this.#existing(tx, id);
      this.#refuseTaken(tx, name, id);
      repository.renameGroup(tx, id, name);
      this.#record(tx, id, `Provider group ${id} is now called ${name}.`, actor);
      return id;
    });
  }

  async delete(id: ProviderGroupId, actor: PortalActor): Promise<void> {
    await this.#tools.store.write((tx) => {
      const { name } = this.#existing(tx, id);
      const count = repository.countProvidersOfGroup(tx, id);
      if (count > 0)
        throw fail('in_use', {
          kind: 'Provider group',
          id: name,
          by: `${counted(count, 'providers')} ${count === 1 ? 'is' : 'are'} in it`,
        });
      repository.deleteGroup(tx, id);
      this.#record(tx, id, `Provider group ${name} was removed.`, actor);
    });
  }

  #existing(db: Db, id: ProviderGroupId): ProviderGroup {
    const known = repository.findGroup(db, id);
    if (!known) throw fail('not_found', { kind: 'provider group', id });
    return known;
  }

  #refuseTaken(tx: Tx, name: string, self: number | undefined): void {
    const known = repository.findGroupByName(tx, name);
    if (known && known.id !== self) throw fail('name_taken', { name });
  }

  #record(tx: Tx, id: ProviderGroupId, title: string, actor: PortalActor): void {
    this.#tools.events.record(tx, { title, subject: `provider_group:${id}`, actor: actor.username });
  }
}
