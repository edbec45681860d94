import type { Customers } from '../customers/record.js';
import type { Collections } from '../../stores/collections.js';
import type { FileStore } from '../../stores/file-store.js';

export interface FileDeps {
  store: FileStore;
  collections: Collections;
  customers: Customers;
}
