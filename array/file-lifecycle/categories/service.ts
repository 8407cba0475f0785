import { badParameter, fail, type Tx } from '@granary/kernel';
import { isSequenceUsed, nextName } from '../../sequences/repository.ts';
import type { ArrayTools } from '../../tools.ts';
import { called } from '../../wording.ts';
import type { CriteriaContext } from '../criteria/fields.ts';
import { FIRST_CATEGORIES } from './first.ts';
import {
  countCategories,
  findCategory,
  findOwner,
  insertCategory,
  isNameTaken,
  listCategories,
  listExtensions,
  removeCategory,
  renameCategory,
  setExtensions,
} from './repository.ts';
import type { Category, NamedCategory } from './category.ts';

const CATEGORIES_MAX = 200;
const EXTENSION = /^[^\s./\\,\p{Cc}]{1,32}$/u;

/** Kinds of files, by the extensions of their names. */
export class FileCategoryService {
  readonly #tools: ArrayTools;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  /** At the first start: the categories every array comes with. */
  async createFirst(): Promise<void> {
    const { store } = this.#tools;
    if (store.read((db) => isSequenceUsed(db, 'category'))) return;
    await store.write((tx) => {
      for (const [displayName, extensions] of FIRST_CATEGORIES) this.#insert(tx, displayName, extensions.split(' '));
    });
  }

  list(start: number, limit: number): { categories: Category[]; count: number } {
    return this.#tools.store.read((db) => ({
      categories: listCategories(db, start, limit),
      count: countCategories(db),
    }));
  }

  /** What criteria need of them, as they are now. */
  lookups(): Pick<CriteriaContext, 'category' | 'categoryOf'> {
    return this.#tools.store.read((db) => {
      const names = new Map<string, string>();
      for (const { name, displayName } of listCategories(db, 0, 0)) {
        names.set(name, name);
        names.set(displayName.toLowerCase(), name);
      }
      const byExtension = new Map(listExtensions(db).map(({ extension, category }) => [extension, category]));
      return {
        category: (name) => names.get(name) ?? names.get(name.toLowerCase()),
        categoryOf: (extension) => byExtension.get(extension),
      };
    });
  }

  async create(displayName: string, extensions: readonly string[], actor: string): Promise<string> {
    const wanted = normalExtensions(extensions);
    return this.#tools.store.write((tx) => {
      if (isNameTaken(tx, displayName)) throw fail('name_taken', { name: displayName });
      if (countCategories(tx) >= CATEGORIES_MAX) {
        throw fail('file_categories_limit', { max: CATEGORIES_MAX });
      }
      refuseTaken(tx, wanted, undefined);
      const category = this.#insert(tx, displayName, wanted);
      this.#recordEvent(tx, category, `was created with ${wanted.join(', ')}`, actor);
      return category.name;
    });
  }

  async update(name: string, extensions: readonly string[], actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    const wanted = normalExtensions(extensions);
    await store.write((tx) => {
      const category = this.#get(tx, name);
      refuseTaken(tx, wanted, name);
      setExtensions(tx, name, wanted, clock.now());
      this.#recordEvent(tx, category, `has other extensions now: ${wanted.join(', ')}`, actor);
    });
  }

  async rename(name: string, displayName: string, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const category = this.#get(tx, name);
      if (category.displayName === displayName) return;
      const isItsOwn = category.displayName.toLowerCase() === displayName.toLowerCase();
      if (!isItsOwn && isNameTaken(tx, displayName)) throw fail('name_taken', { name: displayName });
      renameCategory(tx, name, displayName, clock.now());
      this.#recordEvent(tx, category, `was renamed to ${displayName}`, actor);
    });
  }

  async delete(name: string, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const category = this.#get(tx, name);
      removeCategory(tx, name);
      this.#recordEvent(tx, category, 'was deleted', actor);
    });
  }

  #get(tx: Tx, name: string): Category {
    const category = findCategory(tx, name);
    if (!category) throw fail('category_not_found', { id: name });
    return category;
  }

  #insert(tx: Tx, displayName: string, extensions: readonly string[]): NamedCategory {
    const now = this.#tools.clock.now();
    const category = { name: nextName(tx, 'category'), displayName, createdAt: now, modifiedAt: now };
    insertCategory(tx, category);
    setExtensions(tx, category.name, extensions, now);
    return category;
  }

  #recordEvent(tx: Tx, category: NamedCategory, what: string, actor: string): void {
    const title = `File category ${called(category)} ${what}.`;
    this.#tools.events.record(tx, { title, subject: `file_category:${category.name}`, actor });
  }
}

function normalExtensions(extensions: readonly string[]): string[] {
  const normal = extensions.map((each) => each.trim().replace(/^\./, '').toLowerCase());
  for (const [index, extension] of normal.entries()) {
    if (EXTENSION.test(extension)) continue;
    const given = JSON.stringify(extensions[index]);
    throw badParameter('file_extensions', `must hold extensions without dots, blanks and slashes (${given})`);
  }
  return [...new Set(normal)];
}

function refuseTaken(tx: Tx, extensions: readonly string[], category: string | undefined): void {
  for (const extension of extensions) {
    const owner = findOwner(tx, extension);
    if (!owner || owner.name === category) continue;
    throw fail('extension_in_category', { extension, category: called(owner) });
  }
}
