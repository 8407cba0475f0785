import { Card, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PageLink } from '../../parts/page-link.tsx';

/** One number with where it comes from. */
export function Figure(props: {
  readonly title: string;
  readonly to: string;
  readonly value: string;
  readonly children?: ReactNode;
}) {
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between" align="baseline">
        <PageLink to={props.to}>{props.title}</PageLink>
        <Text fw={700} size="xl">
          {props.value}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" component="div">
        {props.children}
      </Text>
    </Card>
  );
}
