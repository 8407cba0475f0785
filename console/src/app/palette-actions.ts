import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import type { Found } from './found.ts';
import type { Present } from './present.ts';
import { useSessionTools } from './session.tsx';

/** A form that a page of this kind of service opens when its address asks for it. */
interface FormAction {
  readonly label: string;
  readonly page: string;
}

const FORMS: Readonly<Record<Present['kind'], readonly FormAction[]>> = {
  portal: [],
  array: [
    { label: 'New volume', page: 'volumes' },
    { label: 'New share', page: 'volumes' },
    { label: 'New pool', page: 'pools' },
    { label: 'New RAID group', page: 'raid-groups' },
    { label: 'New server', page: 'servers' },
  ],
  objects: [],
};

/** What can be done from anywhere, in the words of its button. */
export function useActions(present: Present): Found[] {
  const { signOut } = useSessionTools();
  const scheme = useComputedColorScheme('light');
  const { setColorScheme } = useMantineColorScheme();
  const other = scheme === 'dark' ? 'light' : 'dark';
  const forms = FORMS[present.kind].map(({ label, page }) => ({
    key: `action ${label}`,
    name: label,
    detail: 'Action',
    to: `${present.base}/${page}`,
    search: { do: label },
  }));
  const isPortal = present.kind === 'portal' || present.arrayId !== undefined;
  return [
    ...forms,
    ...(isPortal ? [{ key: 'action order', name: 'Order an array', detail: 'Action', to: '/arrays/new' }] : []),
    {
      key: 'action scheme',
      name: `Switch to ${other}`,
      detail: 'Action',
      run: () => setColorScheme(other),
    },
    { key: 'action sign-out', name: 'Sign out', detail: 'Action', run: () => void signOut() },
  ];
}
