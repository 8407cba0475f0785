import { Text } from '@mantine/core';
import { portal } from '../../api/portal.ts';
import { usePlaces } from '../../api/places.tsx';
import { useParam } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';

/** Drives are ordered at the portal: a button where this console is the portal's, a sentence where it is the array's own. */
export function AddDrives({ policy, type }: { readonly policy: string; readonly type: string | undefined }) {
  const arrayId = useParam('arrayId');
  if (!usePlaces()['portal'] || arrayId === '') return <AtThePortal what="Drives are" />;
  return (
    <ActionButton
      op={portal.arrays.addDrives}
      label="Add drives"
      icon={<IconPlus />}
      input={{ array_id: Number(arrayId), storage_policy: policy }}
      fields={['drives']}
      more={[]}
      start={{ ...(type !== undefined && { drives: { [type]: 1 } }) }}
      about="Data moves onto them by itself, in steps (Settings); progress is shown here."
    />
  );
}

export function AddPolicy() {
  const arrayId = useParam('arrayId');
  if (!usePlaces()['portal'] || arrayId === '') return <AtThePortal what="Storage policies are" />;
  return (
    <ActionButton
      op={portal.arrays.addStoragePolicy}
      label="Add a storage policy"
      icon={<IconPlus />}
      input={{ array_id: Number(arrayId) }}
      about="It gets drives of its own."
    />
  );
}

export function AddProxy() {
  const arrayId = useParam('arrayId');
  if (!usePlaces()['portal'] || arrayId === '') return <AtThePortal what="Proxy controllers are" />;
  return (
    <ActionButton
      op={portal.arrays.addProxyController}
      label="Add a proxy controller"
      icon={<IconPlus />}
      input={{ array_id: Number(arrayId) }}
    />
  );
}

function AtThePortal({ what }: { readonly what: string }) {
  return (
    <Text size="sm" c="dimmed">
      {what} added at the portal.
    </Text>
  );
}
