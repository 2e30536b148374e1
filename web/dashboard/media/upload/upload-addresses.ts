import type { UploadAddresses } from './tus-upload.ts'

const prefix = 'cuewire-upload:'
/** The server forgets unfinished uploads sooner. */
const ttlMs = 48 * 3_600_000

/** What is used of `localStorage`, whose keys are properties. */
interface KeyStorage {
  readonly getItem: (key: string) => string | null
  readonly setItem: (key: string, value: string) => void
  readonly removeItem: (key: string) => void
}

/** Keeps addresses of unfinished uploads in this browser. They open nothing without a key. */
export function openUploadAddresses(storage: KeyStorage, nowMs: () => number = Date.now): UploadAddresses {
  const read = (key: string): { url: string; atMs: number } | null => {
    const [atMs = '', url = ''] = storage.getItem(key)?.split(' ') ?? []
    return url === '' ? null : { url, atMs: Number(atMs) }
  }
  for (const key of Object.keys(storage)) {
    if (!key.startsWith(prefix)) continue
    const stored = read(key)
    if (stored === null || nowMs() - stored.atMs > ttlMs) storage.removeItem(key)
  }
  return {
    get: fingerprint => read(prefix + fingerprint)?.url ?? null,
    set: (fingerprint, url) => {
      try {
        storage.setItem(prefix + fingerprint, `${nowMs()} ${url}`)
      } catch {
        // The storage is full: the upload does not survive a reload of the page.
      }
    },
    delete: fingerprint => storage.removeItem(prefix + fingerprint)
  }
}
