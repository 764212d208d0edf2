from rebalance_engine.remoting.requests.brokers import GetAllTopicConfig


def test_topics_are_asked_for_as_a_whole_unless_a_page_is_wanted() -> None:
    request = GetAllTopicConfig()

    assert (request.data_version, request.topic_seq, request.max_topic_num) == (None, None, None)
