import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { IconPlus } from '../../parts/icons.tsx';

/** Leads to the order of an array. */
export function OrderButton({ label }: { readonly label: string }) {
  return (
    <Button component={Link} to="/arrays/new" leftSection={<IconPlus />}>
      {label}
    </Button>
  );
}
