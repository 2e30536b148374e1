import { currentCaller, currentApiKey, serverBaseUrl } from '../api/call-api.ts'

/** Where this browser keeps that somebody has opened the player of a station, for each installation and person. */
function storageKeyOf(station: number): string {
  // An API key must not be stored.
  const person = currentApiKey() === '' ? currentCaller() : 'key'
  return `cuewire-opened-player ${serverBaseUrl.pathname} ${person} ${station}`
}

export const hasOpenedPlayer = (station: number): boolean =>
  localStorage.getItem(storageKeyOf(station)) !== null

export const storeOpenedPlayer = (station: number): void => localStorage.setItem(storageKeyOf(station), '1')
