import { isPublishedData, isObject } from '../client/message.ts'
import { serverOf } from '../elements/server-address.ts'
import { CuewirePlayer } from './player.ts'

/** Begins with what the server wrote into the page, and follows the station from there. */
function start(): void {
  const player = document.querySelector('cuewire-player')
  const known: unknown = JSON.parse(document.querySelector('#shown')?.textContent ?? '{}')
  if (!(player instanceof CuewirePlayer) || !isObject(known) || !isPublishedData(known)) return
  const { np, epoch, offset, timeMs, station } = known
  player.wish = {
    server: serverOf(import.meta.url),
    station: String(station),
    apiKey: new URLSearchParams(location.search).get('api_key') ?? '',
    known: { np, epoch: String(epoch), offset: Number(offset), timeMs: Number(timeMs) }
  }
}

start()
