/** Whether the page may use the clipboard: browsers offer it at https addresses and on this machine only. */
export const mayCopy = (): boolean => isSecureContext
