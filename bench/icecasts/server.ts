import { createServer } from 'node:http'

/**
 * A process that is many Icecast servers, one below each path `/1`, `/2`, ...: the odd ones with ten
 * listeners, of whom one comes or goes every half a minute, and a new song every three minutes, the even ones
 * with nobody; below `/hang/1` and on it never answers. Told `report`, it says when each was asked since it
 * was told so last (Unix milliseconds).
 */
const listenersAtMost = 10
const songMs = 180_000
const visitMs = 30_000

let asked: Record<string, number[]> = {}

const isBusy = (name: string) => Number(name) % 2 === 1
/** Not all at the same moment. */
const turnOf = (name: string, periodMs: number) => Math.floor((Date.now() + Number(name) * 7_919) / periodMs)
const listenersOf = (name: string) => (isBusy(name) ? listenersAtMost - (turnOf(name, visitMs) % 2) : 0)

function statsOf(name: string): string {
  const title = isBusy(name) ? `The Low Signals - Song ${turnOf(name, songMs)}` : 'Nobody - Nothing'
  const source =
    '<genre>various</genre><listener_peak>12</listener_peak><max_listeners>unlimited</max_listeners><public>0</public>' +
    '<server_description>Unspecified description</server_description><server_name>Unspecified name</server_name>' +
    '<slow_listeners>0</slow_listeners><source_ip>127.0.0.1</source_ip><user_agent>Lavf/59.27.100</user_agent>' +
    '<total_bytes_read>1234567</total_bytes_read><total_bytes_sent>1234567</total_bytes_sent>'
  return (
    '<?xml version="1.0"?>\n<icestats><admin>icemaster@localhost</admin><clients>12</clients><host>127.0.0.1</host>' +
    `<server_id>Icecast 2.4.4</server_id><sources>1</sources><source mount="/radio.mp3">${source}` +
    `<listeners>${listenersOf(name)}</listeners><listenurl>http://127.0.0.1:8000/radio.mp3</listenurl>` +
    `<server_type>audio/mpeg</server_type><bitrate>128</bitrate><title>${title}</title></source></icestats>\n`
  )
}

function clientsOf(name: string): string {
  const listeners = Array.from(
    { length: listenersOf(name) },
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
  if (isStats) (asked[name] ??= []).push(Date.now())
  response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8', connection: 'close' })
  response.end(isStats ? statsOf(name) : clientsOf(name))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
process.on('message', () => {
  process.send?.({ asked })
  asked = {}
})
process.on('disconnect', () => process.exit())
