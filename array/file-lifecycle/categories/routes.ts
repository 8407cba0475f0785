import type { ArrayHandlers } from '../../handlers.ts';
import type { Category } from './category.ts';
import type { FileCategoryService } from './service.ts';

export function fileCategoryRoutes(service: FileCategoryService): ArrayHandlers<'fileCategories'> {
  return {
    list: ({ start, limit }) => {
      const { categories, count } = service.list(start, limit);
      return { categories: categories.map(viewOf), count };
    },
    create: async ({ displayname, file_extensions }, { actor }) => ({
      category_ext_name: await service.create(displayname, file_extensions, actor.username),
    }),
    update: async ({ category, file_extensions }, { actor }) => {
      await service.update(category, file_extensions, actor.username);
      return {};
    },
    rename: async ({ category, displayname }, { actor }) => {
      await service.rename(category, displayname, actor.username);
      return {};
    },
    delete: async ({ category }, { actor }) => {
      await service.delete(category, actor.username);
      return {};
    },
  };
}

function viewOf({ name, displayName, extensions }: Category) {
  const list = [...extensions];
  const [only = ''] = list;
  return {
    extensions_count: list.length,
    category_ext_name: name,
    category_name: displayName,
    extension: list.length === 1 ? only : list,
  };
}
