import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { Empty } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable } from '../../parts/table.tsx';

interface Category {
  readonly category_ext_name: string;
  readonly category_name: string;
  readonly extension: string | readonly string[];
}

const LABELS = { displayname: 'Name', file_extensions: 'Extensions, without the dot' };

/** Kinds of files by their extension: what scans count, and what policies may name. */
export function Categories() {
  const reading = useRead(array.fileCategories.list, {});
  return (
    <Section
      title="Categories of files"
      tools={<ActionButton op={array.fileCategories.create} label="New category" isSmall labels={LABELS} />}
    >
      <Reading of={reading}>
        {({ categories }) => (
          <DataTable
            label="Categories of files"
            prefix="category-"
            rows={categories}
            rowKey={({ category_ext_name: id }) => id}
            empty={<Empty title="There are no categories.">A category is a name for some extensions.</Empty>}
            columns={[
              {
                name: 'category',
                heading: 'Category',
                cell: ({ category_name: name }) => name,
                value: ({ category_name: name }) => name,
              },
              {
                name: 'extensions',
                heading: 'Extensions',
                cell: (one) => extensionsOf(one).join(', '),
                isLong: true,
                value: (one) => extensionsOf(one).join(' '),
              },
              {
                name: 'actions',
                heading: '',
                align: 'right',
                cell: (one) => <ActionMenu label={one.category_name} actions={actionsOf(one)} />,
              },
            ]}
          />
        )}
      </Reading>
    </Section>
  );
}

function extensionsOf({ extension }: Category): readonly string[] {
  return typeof extension === 'string' ? [extension] : extension;
}

function actionsOf(category: Category) {
  const { category_ext_name: id, category_name: name } = category;
  const input = { category: id };
  return [
    action({
      op: array.fileCategories.update,
      label: 'Change its extensions',
      input,
      labels: LABELS,
      start: { file_extensions: [...extensionsOf(category)] },
    }),
    action({
      op: array.fileCategories.rename,
      label: 'Rename',
      input,
      labels: LABELS,
      start: { displayname: name },
    }),
    action({ op: array.fileCategories.delete, label: 'Delete', input, destroys: name }),
  ];
}
