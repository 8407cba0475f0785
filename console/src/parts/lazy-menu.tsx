import { ActionIcon, Button, Menu, type ElementProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useState, type ReactNode } from 'react';
import { IconDots } from './icons.tsx';

interface LazyMenuProps {
  readonly label: string;
  /** With its word, where there is room. */
  readonly isButton: boolean;
  /** The items, made when the menu is first opened. */
  readonly items: () => ReactNode;
}

/**
 * A menu behind a button. A list has one in each row, so until it is first pressed there is the button alone: a menu
 * costs more to draw than the rest of a row.
 */
export function LazyMenu(props: LazyMenuProps) {
  const [isUsed, { open: use }] = useDisclosure();
  if (isUsed) return <UsedMenu {...props} />;
  return (
    <MenuButton
      label={props.label}
      isButton={props.isButton}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={use}
    />
  );
}

function UsedMenu({ label, isButton, items }: LazyMenuProps) {
  // It opens after its button has the focus, so that closing it gives the focus back to the button.
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(true), []);
  return (
    <Menu position="bottom-end" withinPortal opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <MenuButton label={label} isButton={isButton} autoFocus />
      </Menu.Target>
      <Menu.Dropdown>{items()}</Menu.Dropdown>
    </Menu>
  );
}

type MenuButtonProps = Pick<LazyMenuProps, 'label' | 'isButton'> & ElementProps<'button', 'color' | 'size'>;

function MenuButton({ label, isButton, ...button }: MenuButtonProps) {
  if (isButton)
    return (
      <Button variant="default" rightSection={<IconDots />} {...button}>
        More
      </Button>
    );
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={`Actions of ${label}`} {...button}>
      <IconDots />
    </ActionIcon>
  );
}
