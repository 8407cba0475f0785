export const MB = 2 ** 20;
export const GB = 2 ** 30;
