import { createServer } from 'node:http'

/**
 * Simulates one Icecast server per path: `/1`, `/2`, ... Odd ones have nine or ten listeners, changing every
 * 30 seconds, and a new song every three minutes. Even ones are idle. Requests below `/hang/` are never
 * answered. The message `report` is answered with the polls of each server since the last report (Unix
 * milliseconds).
 */
const maxListeners = 10
const songMs = 180_000
const listenersChangeMs = 30_000

let polls: Record<string, number[]> = {}

const isBusy = (name: string) => Number(name) % 2 === 1
/** The number of periods so far. Offset per server, so that they do not all change at the same time. */
const countPeriods = (name: string, periodMs: number) =>
  Math.floor((Date.now() + Number(name) * 7_919) / periodMs)
const countListeners = (name: string) =>
  isBusy(name) ? maxListeners - (countPeriods(name, listenersChangeMs) % 2) : 0

function renderStats(name: string): string {
  const title = isBusy(name) ? `The Low Signals - Song ${countPeriods(name, songMs)}` : 'Idle - Idle'
  const source =
    '<genre>various</genre><listener_peak>12</listener_peak><max_listeners>unlimited</max_listeners><public>0</public>' +
    '<server_description>Unspecified description</server_description><server_name>Unspecified name</server_name>' +
    '<slow_listeners>0</slow_listeners><source_ip>127.0.0.1</source_ip><user_agent>Lavf/59.27.100</user_agent>' +
    '<total_bytes_read>1234567</total_bytes_read><total_bytes_sent>1234567</total_bytes_sent>'
  return (
    '<?xml version="1.0"?>\n<icestats><admin>icemaster@localhost</admin><clients>12</clients><host>127.0.0.1</host>' +
    `<server_id>Icecast 2.4.4</server_id><sources>1</sources><source mount="/radio.mp3">${source}` +
    `<listeners>${countListeners(name)}</listeners><listenurl>http://127.0.0.1:8000/radio.mp3</listenurl>` +
    `<server_type>audio/mpeg</server_type><bitrate>128</bitrate><title>${title}</title></source></icestats>\n`
  )
}

function renderClients(name: string): string {
  const listeners = Array.from(
    { length: countListeners(name) },
    (_, index) =>
      `<listener><IP>203.0.113.${index}</IP><UserAgent>Mozilla/5.0 (X11; Linux x86_64) Player/${name}</UserAgent>` +
      `<Connected>412</Connected><ID>${index}</ID></listener>`
  )
  return (
    `<?xml version="1.0"?>\n<icestats><source mount="/radio.mp3"><Listeners>${listeners.length}</Listeners>` +
    `${listeners.join('')}</source></icestats>\n`
  )
}

const server = createServer((request, response) => {
  const [, name = '', ...page] = (request.url ?? '').split('/')
  if (name === 'hang') return
  const isStats = page.join('/') === 'admin/stats'
  if (isStats) (polls[name] ??= []).push(Date.now())
  response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8', connection: 'close' })
  response.end(isStats ? renderStats(name) : renderClients(name))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
process.on('message', () => {
  process.send?.({ polls })
  polls = {}
})
process.on('disconnect', () => process.exit())
