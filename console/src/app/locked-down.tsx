import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

/** Where nothing can be changed, nothing is offered: says why. `children`: where it is released. */
export function LockedDown({ children }: { readonly children: ReactNode }) {
  return (
    <Alert color="yellow" mb="md" role="status" title="Locked down">
      The array serves its data and takes no change until an administrator releases it {children}.
    </Alert>
  );
}
