import { fail, type Page, type Tx } from '@granary/kernel';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { countTags, deleteTag, findTag, insertTag, listTags, updateTag } from './repository.ts';
import type { TaggedKind, Tag } from './tag.ts';

/** A kind of thing that can be tagged. `check` throws when there is none of that name. */
export interface Tagged {
  readonly kind: TaggedKind;
  readonly check: (owner: string) => unknown;
}

const TAGS_MAX = 50;

/** Notes on pools, volumes and servers: a value under a key. */
export class TagService {
  readonly #tools: ArrayTools;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  list({ kind, check }: Tagged, owner: string, page: Page): { tags: Tag[]; count: number } {
    check(owner);
    return this.#tools.store.read((db) => ({
      tags: listTags(db, kind, owner, page),
      count: countTags(db, kind, owner),
    }));
  }

  create(tagged: Tagged, owner: string, key: string, value: string, actor: string): Promise<string> {
    return this.#tools.store.write((tx) => {
      const { kind } = tagged;
      tagged.check(owner);
      if (findTag(tx, kind, owner, key)) throw fail('name_taken', { name: key });
      if (countTags(tx, kind, owner) >= TAGS_MAX) {
        throw fail('tags_limit', { owner, max: TAGS_MAX });
      }
      const name = nextName(tx, 'tag');
      insertTag(tx, { name, kind, owner, key, value });
      this.#recordEvent(tx, tagged, owner, `Tag ${key} was put on ${owner}.`, actor);
      return name;
    });
  }

  update(tagged: Tagged, owner: string, key: string, value: string, actor: string): Promise<string> {
    return this.#tools.store.write((tx) => {
      const { name } = this.#find(tx, tagged, owner, key);
      updateTag(tx, name, value);
      this.#recordEvent(tx, tagged, owner, `Tag ${key} of ${owner} was changed.`, actor);
      return name;
    });
  }

  delete(tagged: Tagged, owner: string, key: string, actor: string): Promise<string> {
    return this.#tools.store.write((tx) => {
      const { name } = this.#find(tx, tagged, owner, key);
      deleteTag(tx, name);
      this.#recordEvent(tx, tagged, owner, `Tag ${key} was taken off ${owner}.`, actor);
      return name;
    });
  }

  #find(tx: Tx, { kind, check }: Tagged, owner: string, key: string): Tag {
    check(owner);
    const tag = findTag(tx, kind, owner, key);
    if (!tag) throw fail('tag_not_found', { id: key });
    return tag;
  }

  #recordEvent(tx: Tx, { kind }: Tagged, owner: string, title: string, actor: string): void {
    this.#tools.events.record(tx, { title, subject: `${kind}:${owner}`, actor });
  }
}
