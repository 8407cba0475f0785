import type { ReactNode } from 'react';

/** Line icons of our own, 24 by 24: a library of thousands would be a fifth of the whole install. */
function icon(paths: ReactNode) {
  return function Icon({ size = 18 }: { readonly size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {paths}
      </svg>
    );
  };
}

export const IconHome = icon(<path d="M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z" />);
export const IconStack = icon(<path d="m12 3 9 5-9 5-9-5zM3 12l9 5 9-5M3 16l9 5 9-5" />);
export const IconInbox = icon(<path d="M4 13 6 5h12l2 8v6H4zM4 13h5l1 3h4l1-3h5" />);
export const IconCloud = icon(<path d="M7 18a4 4 0 0 1-.5-8A6 6 0 0 1 18 9.5a4.3 4.3 0 0 1-.5 8.5z" />);
export const IconTag = icon(<path d="M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01" />);
export const IconUsers = icon(
  <path d="M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 3-6 6.5-6s6.5 2.5 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c2.2.8 3.5 2.9 3.5 5.5" />,
);
export const IconNetwork = icon(<path d="M12 4v6M12 10H5v5M12 10h7v5M3 15h4v4H3zM17 15h4v4h-4zM10 2h4v4h-4z" />);
export const IconBill = icon(<path d="M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6" />);
export const IconBell = icon(<path d="M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4" />);
export const IconGear = icon(
  <path d="M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM12 2v3M12 19v3M2 12h3M19 12h3M4.9 4.9 7 7M17 17l2.1 2.1M4.9 19.1 7 17M17 7l2.1-2.1" />,
);
export const IconDrive = icon(<path d="M4 5h16v6H4zM4 13h16v6H4zM7 8h.01M7 16h.01" />);
export const IconPool = icon(
  <path d="M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3" />,
);
export const IconVolume = icon(<path d="M5 4h14v16H5zM5 15h14M8 17.5h.01" />);
export const IconServer = icon(<path d="M5 3h14v18H5zM9 7h6M9 11h6M12 17h.01" />);
export const IconCamera = icon(<path d="M4 8h4l1.5-3h5L16 8h4v11H4zM12 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z" />);
export const IconClock = icon(<path d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2" />);
export const IconMirror = icon(<path d="M12 3v18M8 7 4 12l4 5zM16 7l4 5-4 5z" />);
export const IconChart = icon(<path d="M4 4v16h16M8 15l3-4 3 2 5-7" />);
export const IconBucket = icon(<path d="M4 7h16l-2 13H6zM4 7c0-1.7 3.6-3 8-3s8 1.3 8 3" />);
export const IconFolder = icon(<path d="M3 6h6l2 2h10v11H3z" />);
export const IconFile = icon(<path d="M6 3h8l4 4v14H6zM14 3v4h4" />);
export const IconSearch = icon(<path d="M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4" />);
export const IconSun = icon(
  <path d="M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4" />,
);
export const IconMoon = icon(<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />);
export const IconUser = icon(<path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.6-7 8-7s8 3 8 7" />);
export const IconCopy = icon(<path d="M8 8h12v12H8zM16 8V4H4v12h4" />);
export const IconTerminal = icon(<path d="M3 5h18v14H3zM7 9l3 3-3 3M12.5 15H17" />);
export const IconDots = icon(<path d="M5 12h.01M12 12h.01M19 12h.01" />);
export const IconPlus = icon(<path d="M12 5v14M5 12h14" />);
export const IconTrash = icon(<path d="M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6" />);
export const IconCheck = icon(<path d="m5 12 5 5 9-10" />);
export const IconBack = icon(<path d="m14 6-6 6 6 6" />);
export const IconEye = icon(
  <path d="M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z" />,
);
export const IconUpload = icon(<path d="M12 16V4M7 9l5-5 5 5M4 16v4h16v-4" />);
export const IconDownload = icon(<path d="M12 4v12M7 11l5 5 5-5M4 18v2h16v-2" />);
export const IconLink = icon(
  <path d="M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1" />,
);
export const IconGrid = icon(<path d="M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z" />);
export const IconQuota = icon(<path d="M12 3v9l6.5 6.5M12 21a9 9 0 1 1 9-9" />);
