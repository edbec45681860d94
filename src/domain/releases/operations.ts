export { releasesCollection } from './record.js';
export { channelMovesCollection, readHistory } from './operations/history.js';
export { pointChannel, promoteAgentflow } from './operations/point.js';
export { publishRelease } from './operations/publish.js';
export { listReleases, readChannels, readDifference, readRelease } from './operations/read.js';
export { upgradesCollection } from './operations/upgrade.js';
