import { isDeepStrictEqual } from 'node:util';
import type { Reference } from './types.ts';

type Section = 'schemas' | 'responses' | 'parameters' | 'securitySchemes';

/** What a document says once and refers to from many places. */
export class Components {
  readonly #sections: Partial<Record<Section, Record<string, object>>> = {};

  define(section: Section, name: string, value: object): Reference {
    const entries = (this.#sections[section] ??= {});
    if (entries[name] !== undefined && !isDeepStrictEqual(entries[name], value))
      throw new Error(`Two different ${section} are named ${name}; rename one of them.`);
    entries[name] = value;
    return { $ref: `#/components/${section}/${name}` };
  }

  toObject(): Readonly<Record<string, Readonly<Record<string, object>>>> {
    return this.#sections;
  }
}
