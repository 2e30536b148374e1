/*
 * The key an operator signed in with. It is kept for this tab and until that is closed, and leaves it in headers and
 * messages only.
 */

const name = 'cuewire-key'

/** The key of this tab; empty: nobody has signed in. */
export const keyOfTab = (): string => sessionStorage.getItem(name) ?? ''

export function keepKey(key: string): void {
  sessionStorage.setItem(name, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(name)
}

/** Whether a text could be sent as a key at all. */
export const isSendable = (text: string): boolean => /^[\x21-\x7e]{1,200}$/.test(text)
