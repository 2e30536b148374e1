import { isObject, isPublishedData } from '../client/message.ts'
import { serverUrl } from '../elements/addresses.ts'
import { CuewirePlayer } from './player.ts'

/** Starts the player with the document that the server rendered into the page. */
function start(): void {
  const player = document.querySelector('cuewire-player')
  const known: unknown = JSON.parse(document.querySelector('#shown')?.textContent ?? '{}')
  if (!(player instanceof CuewirePlayer) || !isObject(known) || !isPublishedData(known)) return
  const { np, epoch, offset, timeMs, station } = known
  player.options = {
    server: serverUrl(import.meta.url),
    station: String(station),
    apiKey: new URLSearchParams(location.search).get('api_key') ?? '',
    known: { np, epoch: String(epoch), offset: Number(offset), timeMs: Number(timeMs) }
  }
}

start()
