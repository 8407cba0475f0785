import { objects } from '../../api/objects.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import type { Drive, Policy } from '../records.ts';

export function policyActions(policy: Policy, disks: readonly Drive[] = []): ActionProps<never>[] {
  const { name, display_name: title, full_description: about, gb_per_month_cost: price } = policy;
  return [
    action({
      op: objects.policies.update,
      label: 'Describe and price',
      input: { name },
      fields: ['full_description', 'gb_per_month_cost'],
      more: [],
      start: { gb_per_month_cost: price, ...(about !== null && { full_description: about }) },
      labels: { full_description: 'What it is for', gb_per_month_cost: 'Price per GiB-month' },
      about: 'A price holds for the whole day (UTC) it is set on and those after it.',
    }),
    ...(policy.default === 'YES'
      ? []
      : [
          action({
            op: objects.policies.setDefault,
            label: 'Make it the default',
            input: { name },
            about: `New buckets are made in ${title} unless they ask for another policy.`,
          }),
        ]),
    ...removals(policy, disks),
  ];
}

/** One drive of a type at a time; the array chooses which, and moves its data first. */
function removals({ name, display_name: title }: Policy, disks: readonly Drive[]): ActionProps<never>[] {
  return typesOf(disks).map((type) =>
    action({
      op: objects.policies.removeDrives,
      label: `Remove a drive ${type}`,
      input: { name, drives: [{ type, quantity: 1 }] },
      fields: [],
      more: [],
      destroys: title,
      about: `Its data is moved to the other drives of ${title}, then it goes back to the cloud. Nothing is lost; it takes as long as the data is much. Drives that failed go first.`,
      said: 'The data of the drive is being moved.',
    }),
  );
}

function typesOf(disks: readonly Drive[]): string[] {
  return [...new Set(disks.map(({ disk_type: type }) => type))].toSorted();
}
