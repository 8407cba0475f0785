import type { ArrayHandlers } from '../handlers.ts';
import type { Tagged, TagService } from './service.ts';

/** The same four for each kind of thing: the contract declares them alike. */
export function tagRoutes(tags: TagService, tagged: Tagged): Required<ArrayHandlers<'poolTags'>> {
  return {
    list: ({ id, ...page }) => {
      const { tags: found, count } = tags.list(tagged, id, page);
      return { tags: found.map(({ name, key, value }) => ({ name, key, value })), count };
    },
    create: async ({ id, key, value }, { actor }) => ({
      tag_name: await tags.create(tagged, id, key, value, actor.username),
    }),
    update: async ({ id, tag_key, value }, { actor }) => ({
      tag_name: await tags.update(tagged, id, tag_key, value, actor.username),
    }),
    delete: async ({ id, tag_key }, { actor }) => ({
      tag_name: await tags.delete(tagged, id, tag_key, actor.username),
    }),
  };
}
