/** What a user agent says about a listener. */
export interface AgentDetails {
  /** The name of the program: `VLC`, `Firefox`; `Other` if it is unknown. */
  readonly family: string
  readonly isBrowser: boolean
  readonly isMobile: boolean
  readonly isBot: boolean
  /** `Android`; empty if unknown. */
  readonly system: string
}

type Names = readonly (readonly [RegExp, string])[]

const bots: Names = [
  [/bot\b|crawl|spider|slurp|monitor|uptime|pingdom|curl\/|wget\/|python|Go-http-client/i, 'Bot or script']
]

/** Players before browsers, since some of them also name the browser that they contain. */
const players: Names = [
  [/VLC/i, 'VLC'],
  [/foobar2000/i, 'foobar2000'],
  [/WinampMPEG|Winamp/i, 'Winamp'],
  [/iTunes/i, 'iTunes'],
  [/AppleCoreMedia/i, 'Apple media player'],
  [/NSPlayer|WMPlayer|Windows-Media-Player/i, 'Windows Media Player'],
  [/Sonos/i, 'Sonos'],
  [/Alexa|AlexaMediaPlayer|Echo\//i, 'Alexa'],
  [/CrKey|Chromecast|GoogleCast/i, 'Chromecast'],
  [/TuneIn/i, 'TuneIn'],
  [/RadioDroid/i, 'RadioDroid'],
  [/Kodi|XBMC/i, 'Kodi'],
  [/mpv/i, 'mpv'],
  [/MPlayer/i, 'MPlayer'],
  [/Music Player Daemon|\bmpd\b/i, 'Music Player Daemon'],
  [/ExoPlayer|AndroidX?Media/i, 'ExoPlayer'],
  [/stagefright/i, 'Android media player'],
  [/GStreamer/i, 'GStreamer'],
  [/Lavf|FFmpeg|libavformat/i, 'FFmpeg']
]

const browsers: Names = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\/|Chromium\//, 'Chrome'],
  [/Version\/[\d.]+.*Safari\//, 'Safari']
]

const systems: Names = [
  [/Android/i, 'Android'],
  [/iPhone|iPad|iPod|\biOS\b/i, 'iOS'],
  [/Windows/i, 'Windows'],
  [/Mac OS X|Macintosh|\bmacOS\b/i, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/i, 'Linux']
]

/** Names of programs that are browsers. */
export const browserFamilies: readonly string[] = browsers.map(([, name]) => name)

/** Patterns are applied to this many characters. */
const maxLength = 500

/** Describes a user agent by well-known names in it. */
export function parseUserAgent(userAgent: string): AgentDetails {
  const text = userAgent.slice(0, maxLength)
  const find = (names: Names) => names.find(([pattern]) => pattern.test(text))?.[1] ?? ''
  const player = find(players)
  const bot = player === '' ? find(bots) : ''
  const browser = player === '' && bot === '' ? find(browsers) : ''
  const system = find(systems)
  return {
    family: player || bot || browser || 'Other',
    isBrowser: browser !== '',
    isMobile: system === 'Android' || system === 'iOS' || /Mobile/.test(text),
    isBot: bot !== '',
    system
  }
}

/**
 * Streaming servers, as they name themselves to the server whose stream they relay: a name alone, with a version or
 * with a word for a server. Players mention one after their own name (`WinampMPEG/5.66, Ultravox/2.1`) or have a longer
 * one (`ShoutcastPlayer`, `Icecast Client`).
 */
const streamingServers = new RegExp(
  '^(?:ais/|(?:icecast|shoutcast|ultravox|dnas|liquidsoap|rsas|rocket streaming(?: audio)?|steamcast|wowza(?: ?streaming ?engine)?)' +
    '(?:\\s*$|[ /-]?v?\\d|[ /-]?(?:relay|server|dnas|distributed network audio server|kh)\\b))',
  'i'
)

/**
 * Whether a user agent is that of a streaming server. It relays the stream to listeners of its own, who are counted
 * there, and is no listener itself.
 */
export const isStreamingServerAgent = (userAgent: string): boolean =>
  streamingServers.test(userAgent.trimStart())

/** Leaves out the connections of streaming servers. */
export const withoutServerConnections = <Connection extends { readonly userAgent: string }>(
  connections: readonly Connection[]
): Connection[] => connections.filter(({ userAgent }) => !isStreamingServerAgent(userAgent))
