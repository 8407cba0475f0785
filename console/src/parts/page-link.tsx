import { Anchor, Card, Group, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useBase } from '../app/base.ts';

/** To a page of the present service: `to` is below its base. */
export function PageLink({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  const base = useBase();
  return (
    <Anchor component={Link} to={`${base}${to}`} size="sm">
      {children}
    </Anchor>
  );
}

/** A part of a page with a heading of its own. */
export function Section(props: { readonly title: string; readonly tools?: ReactNode; readonly children: ReactNode }) {
  return (
    <Card withBorder mb="md" component="section" aria-label={props.title}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {props.title}
        </Title>
        <Group gap="xs">{props.tools}</Group>
      </Group>
      {props.children}
    </Card>
  );
}
